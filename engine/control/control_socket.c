/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UNIX socket under the control protocol; see control_socket.h.
 *
 * Called by main.c on the main thread; messages themselves are control_rpc.c's business.
 * Every descriptor is non-blocking and close-on-exec, every send is MSG_NOSIGNAL. A client that
 * does not read its replies is closed when RPC_UNSENT_OCTETS_MAX of them wait for it.
 * Source: unix(7), epoll(7); docs/design/0002-engine-interface.md, "Control".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control_socket.h"

enum {
	BACKLOG = 64,
	EVENTS_PER_POLL = CONTROL_CLIENTS_MAX + 1,
	ACCEPTS_PER_POLL = 32,
	READ_OCTETS = 64 << 10, /* per client and poll, so that nobody starves the others */
};

struct client {
	int fd;          /* -1: free */
	uint32_t events; /* what epoll waits for */
	struct rpc_conn conn;
};

struct control {
	int epoll_fd;
	int listen_fd;
	int spare_fd; /* given up for a moment when we are out of descriptors */
	bool bound;
	struct sockaddr_un address;
	struct rpc_handler handler;
	struct client clients[CONTROL_CLIENTS_MAX];
	char octets[READ_OCTETS];
};

static int
refuse_system(struct error *err, const char *what, const char *path)
{
	int code = -errno;

	return error_set(err, code, "", "%s: %s: %s", path, what, strerror(-code));
}

static int
spare_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Bind with mode 0600 from the first moment on, then listen. */
static int
listen_on(struct control *control, struct error *err)
{
	const struct sockaddr *address = (const struct sockaddr *)&control->address;
	const char *path = control->address.sun_path;
	struct stat status;

	control->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (control->listen_fd < 0)
		return refuse_system(err, "cannot make a socket", path);
	/* Linux gives the file the mode of the unbound socket; the process umask stays alone. */
	if (fchmod(control->listen_fd, 0600) < 0)
		return refuse_system(err, "cannot set the mode", path);
	if (bind(control->listen_fd, address, sizeof(control->address)) < 0)
		return refuse_system(err,
				     "cannot make the control socket, use a fresh run "
				     "directory",
				     path);
	control->bound = true;
	if (lstat(path, &status) < 0)
		return refuse_system(err, "cannot stat", path);
	if ((status.st_mode & 0777) != 0600)
		return error_set(err, -EPERM, "",
				 "%s has mode %03o instead of 0600; use a run "
				 "directory on tmpfs",
				 path, (unsigned int)status.st_mode & 0777);
	if (listen(control->listen_fd, BACKLOG) < 0)
		return refuse_system(err, "cannot listen", path);
	return 0;
}

static int
watch(struct control *control, int fd, struct client *client, uint32_t events, int operation)
{
	struct epoll_event event = {.events = events, .data.ptr = client};

	return epoll_ctl(control->epoll_fd, operation, fd, &event);
}

int
control_open(struct control **out, const char *socket_path, control_dispatch_fn dispatch,
	     void *user, struct error *err)
{
	struct control *control = calloc(1, sizeof(*control));
	size_t octets = strlen(socket_path);
	int rc;

	*out = NULL;
	if (control == NULL)
		return error_set(err, -ENOMEM, "", "out of memory for the control socket");
	control->handler = (struct rpc_handler){.dispatch = dispatch, .user = user};
	control->address.sun_family = AF_UNIX;
	control->listen_fd = -1;
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		control->clients[i].fd = -1;
	control->spare_fd = spare_open();
	control->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (octets == 0 || octets >= sizeof(control->address.sun_path))
		rc = error_set(err, -ENAMETOOLONG, "",
			       "\"%.60s\": the path of a socket may have 1 to %zu octets, not "
			       "%zu; use another run directory",
			       socket_path, sizeof(control->address.sun_path) - 1, octets);
	else {
		memcpy(control->address.sun_path, socket_path, octets);
		if (control->epoll_fd < 0)
			rc = refuse_system(err, "cannot make an epoll instance", socket_path);
		else
			rc = listen_on(control, err);
	}
	if (rc == 0 && watch(control, control->listen_fd, NULL, EPOLLIN, EPOLL_CTL_ADD) < 0)
		rc = refuse_system(err, "cannot watch", socket_path);
	if (rc < 0)
		control_close(control);
	else
		*out = control;
	return rc;
}

int
control_epoll_fd(const struct control *control)
{
	return control->epoll_fd;
}

static void
client_close(struct client *client)
{
	close(client->fd); /* which also removes it from epoll */
	client->fd = -1;
	rpc_conn_reset(&client->conn);
}

/* Send what the socket takes now. */
static void
flush(int fd, struct rpc_conn *conn)
{
	const char *octets;
	size_t unsent;

	while ((unsent = rpc_conn_unsent(conn, &octets)) > 0) {
		ssize_t n = send(fd, octets, unsent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			conn->broken = true;
			return;
		}
		rpc_conn_sent(conn, (size_t)n);
	}
}

static void
client_read(struct control *control, struct client *client)
{
	ssize_t n = recv(client->fd, control->octets, sizeof(control->octets), MSG_DONTWAIT);

	if (n > 0)
		rpc_conn_feed(&client->conn, control->octets, (size_t)n, &control->handler);
	else if (n == 0)
		client->conn.closing = true; /* half a message is dropped, replies still go out */
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		client->conn.broken = true;
}

/* Close the client, or wait for what it needs next. */
static void
client_settle(struct control *control, struct client *client)
{
	const struct rpc_conn *conn = &client->conn;
	const char *octets;
	bool unsent = rpc_conn_unsent(conn, &octets) > 0;
	uint32_t events = (conn->closing ? 0 : EPOLLIN) | (unsent ? EPOLLOUT : 0);

	if (conn->broken || (conn->closing && !unsent)) {
		client_close(client);
		return;
	}
	if (events == client->events)
		return;
	if (watch(control, client->fd, client, events, EPOLL_CTL_MOD) < 0)
		client_close(client);
	else
		client->events = events;
}

static void
client_ready(struct control *control, struct client *client, uint32_t events)
{
	const uint32_t gone = EPOLLHUP | EPOLLERR;

	if (!client->conn.closing && (events & (EPOLLIN | gone)) != 0)
		client_read(control, client);
	else if (client->conn.closing && (events & gone) != 0)
		client->conn.broken = true;
	if (!client->conn.broken)
		flush(client->fd, &client->conn);
	client_settle(control, client);
}

/* Tell a client why it cannot stay and hang up; best effort. */
static void
turn_away(int fd, const struct error *err)
{
	struct rpc_conn conn = {0};

	rpc_conn_refuse(&conn, RPC_REFUSED, err);
	flush(fd, &conn);
	rpc_conn_reset(&conn);
	close(fd);
}

static void
client_add(struct control *control, int fd)
{
	struct error err;

	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->fd >= 0)
			continue;
		if (watch(control, fd, client, EPOLLIN, EPOLL_CTL_ADD) < 0)
			break;
		client->fd = fd;
		client->events = EPOLLIN;
		return;
	}
	error_set(&err, -EBUSY, "", "%d clients are connected already; close one and try again",
		  CONTROL_CLIENTS_MAX);
	turn_away(fd, &err);
}

/* Out of descriptors, a waiting client would keep epoll ready forever: take it and drop it.
 * False when nobody was waiting. */
static bool
drop_waiting(struct control *control)
{
	struct error err;
	int fd;

	error_set(&err, -EMFILE, "", "the engine is out of file descriptors; raise ulimit -n");
	if (control->spare_fd >= 0)
		close(control->spare_fd);
	fd = accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		turn_away(fd, &err);
	control->spare_fd = spare_open();
	return fd >= 0;
}

static void
accept_waiting(struct control *control)
{
	for (int i = 0; i < ACCEPTS_PER_POLL; i++) {
		int fd = accept4(control->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			client_add(control, fd);
		else if (errno == ECONNABORTED || errno == EINTR)
			continue;
		else if ((errno != EMFILE && errno != ENFILE) || !drop_waiting(control))
			return;
	}
}

void
control_poll(struct control *control)
{
	struct epoll_event events[EVENTS_PER_POLL];
	int n = epoll_wait(control->epoll_fd, events, EVENTS_PER_POLL, 0);

	/* A slot is only freed by its own event, so no event here can mean an earlier client. */
	for (int i = 0; i < n; i++) {
		struct client *client = events[i].data.ptr;

		if (client == NULL)
			accept_waiting(control);
		else
			client_ready(control, client, events[i].events);
	}
}

void
control_close(struct control *control)
{
	if (control == NULL)
		return;
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (control->clients[i].fd >= 0)
			client_close(&control->clients[i]);
	if (control->bound)
		unlink(control->address.sun_path);
	if (control->listen_fd >= 0)
		close(control->listen_fd);
	if (control->spare_fd >= 0)
		close(control->spare_fd);
	if (control->epoll_fd >= 0)
		close(control->epoll_fd);
	free(control);
}
