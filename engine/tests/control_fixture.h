/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control socket with a dispatcher for tests, and clients that never block.
 *
 * Included by test_control.c and test_control_hostile.c, once each. One thread plays both sides:
 * control_poll() is called between the clients' steps, so every test is deterministic.
 */
#ifndef WR_TESTS_CONTROL_FIXTURE_H
#define WR_TESTS_CONTROL_FIXTURE_H

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/control_socket.h"

#define PING "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"

struct fixture {
	struct control *control;
	char dir[64];
	char path[96];
	unsigned int calls; /* of dispatch */
};

static json_t *
dispatch(void *user, const char *method, const json_t *params, struct error *err)
{
	struct fixture *f = user;

	f->calls++;
	if (strcmp(method, "ping") == 0)
		return json_object();
	if (strcmp(method, "echo") == 0)
		return json_deep_copy(params);
	if (strcmp(method, "decode") == 0)
		error_set(err, ERROR_PARAMS, "ports[0].mbufs", "it is 0; it must be more");
	else if (strcmp(method, "busy") == 0)
		error_set(err, -EBUSY, "ports", "ports are open; once is enough");
	else if (strcmp(method, "enosys") == 0)
		error_set(err, -ENOSYS, "ports[0]", "the device cannot do this");
	else if (strcmp(method, "silent") != 0)
		error_set(err, -ENOSYS, "method", "there is no method \"%.64s\"", method);
	return NULL;
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err = {0};

	snprintf(f->dir, sizeof(f->dir), "/tmp/wirerate-test-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/control.sock", f->dir);
	if (control_open(&f->control, f->path, dispatch, f, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	control_close(f->control);
	if (rmdir(f->dir) != 0) /* fails unless the socket is gone */
		return -1;
	free(f);
	return 0;
}

static int
client(const struct fixture *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Poll until nothing is ready any more. */
static void
settle(const struct fixture *f)
{
	struct pollfd ready = {.fd = control_epoll_fd(f->control), .events = POLLIN};

	for (int i = 0; i < 1000 && poll(&ready, 1, 0) > 0; i++)
		control_poll(f->control);
	assert_int_equal(poll(&ready, 1, 0), 0);
}

/* Send everything, letting the server read when the socket is full. False when it hung up. */
static bool
say_octets(const struct fixture *f, int fd, const char *octets, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, octets, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return false;
		if (n > 0) {
			octets += n;
			len -= (size_t)n;
		}
		control_poll(f->control);
	}
	settle(f);
	return true;
}

static void
say(const struct fixture *f, int fd, const char *text)
{
	assert_true(say_octets(f, fd, text, strlen(text)));
}

/* What came back until now, NUL-terminated. *closed when the server hung up. */
static const char *
hear(const struct fixture *f, int fd, bool *closed)
{
	static char heard[4 << 20];
	size_t len = 0;
	ssize_t n;

	for (;;) {
		settle(f);
		n = recv(fd, heard + len, sizeof(heard) - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	heard[len] = '\0';
	if (n < 0)
		assert_true(errno == EAGAIN || errno == ECONNRESET);
	*closed = n == 0 || errno == ECONNRESET;
	return heard;
}

static void
expect(const struct fixture *f, int fd, const char *reply)
{
	bool closed;

	assert_string_equal(hear(f, fd, &closed), reply);
	assert_false(closed);
}

/* One reply with this error, and whether the connection is closed after it. */
static void
expect_error(const struct fixture *f, int fd, int code, const char *words, bool close_wanted)
{
	bool closed;
	const char *heard = hear(f, fd, &closed);
	char start[64];

	snprintf(start, sizeof(start), "\"error\":{\"code\":%d,\"message\":\"", code);
	if (strstr(heard, start) == NULL || strstr(heard, words) == NULL || closed != close_wanted)
		fail_msg("wanted %d %s (closed: %d), got %s (closed: %d)", code, words,
			 close_wanted, heard, closed);
	assert_ptr_equal(strchr(heard, '\n'), heard + strlen(heard) - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
