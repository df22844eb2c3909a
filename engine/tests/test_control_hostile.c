/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket and clients that send garbage, too much, vanish, or do not listen. Each time
 * the others must go on being served.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <sys/resource.h>

#include "tests/control_fixture.h"

static void
assert_alive(const struct fixture *f)
{
	int fd = client(f);

	settle(f);
	say(f, fd, PING);
	expect(f, fd, PONG);
	close(fd);
	settle(f);
}

/* No JSON: one error, then closed. */
static void
malformed_json_closes(void **state)
{
	static const char *const rows[] = {
		"garbage\n",
		"\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":1e999}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\\u0000\"}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}\n",
		"7\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"\xff\xfe\xfd\n",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = client(f);

		say(f, fd, rows[i]);
		expect_error(f, fd, -32700, "this connection is closed", true);
		close(fd);
	}
	assert_int_equal(f->calls, 0);
	assert_alive(f);
}

static void
embedded_nul_closes(void **state)
{
	static const char in_string[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\0ng\"}\n";
	static const char outside[] = "\0" PING;
	static const char after[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\0\n";
	struct fixture *f = *state;
	int fd = client(f);

	assert_true(say_octets(f, fd, in_string, sizeof(in_string) - 1));
	expect_error(f, fd, -32700, "closed", true);
	close(fd);
	fd = client(f);
	assert_true(say_octets(f, fd, outside, sizeof(outside) - 1));
	expect_error(f, fd, -32700, "closed", true);
	close(fd);
	fd = client(f);
	assert_true(say_octets(f, fd, after, sizeof(after) - 1));
	expect_error(f, fd, -32700, "closed", true);
	close(fd);
	assert_int_equal(f->calls, 0);
}

/* Send the same octet so often, from a small buffer. False when the server hung up. */
static bool
say_repeated(const struct fixture *f, int fd, char octet, size_t times)
{
	char octets[1 << 16];

	memset(octets, octet, sizeof(octets));
	while (times > 0) {
		size_t n = times < sizeof(octets) ? times : sizeof(octets);

		if (!say_octets(f, fd, octets, n))
			return false;
		times -= n;
	}
	return true;
}

/* A request whose message has exactly this many octets without the '\n'. */
static void
say_padded_request(const struct fixture *f, int fd, size_t octets)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"";

	say(f, fd, head);
	assert_true(say_repeated(f, fd, ' ', octets - strlen(head) - 1));
	say(f, fd, "}\n");
}

static void
largest_message_passes_larger_closes(void **state)
{
	struct fixture *f = *state;
	int fd = client(f);

	say_padded_request(f, fd, RPC_MESSAGE_OCTETS_MAX);
	expect(f, fd, PONG);
	say_padded_request(f, fd, (size_t)RPC_MESSAGE_OCTETS_MAX + 1);
	expect_error(f, fd, -32600, "67108864 octets at most; this connection is closed", true);
	close(fd);
	assert_int_equal(f->calls, 1);
}

static void
message_without_end_closes(void **state)
{
	struct fixture *f = *state;
	int fd = client(f);

	/* cut off in the middle */
	assert_false(say_repeated(f, fd, '[', (size_t)RPC_MESSAGE_OCTETS_MAX + (8 << 20)));
	expect_error(f, fd, -32600, "\"errno\":\"EMSGSIZE\"", true);
	close(fd);
	assert_alive(f);
}

static void
deep_nesting_closes(void **state)
{
	struct fixture *f = *state;
	size_t octets = 8 << 20;
	char *text = malloc(octets);
	int fd = client(f);

	memset(text, '[', octets);
	text[octets - 1] = '\n';
	assert_true(say_octets(f, fd, text, octets));
	expect_error(f, fd, -32700, "maximum parsing depth", true);
	free(text);
	close(fd);
	/* just within jansson's limit: parsed, copied, encoded and freed without trouble */
	fd = client(f);
	text = calloc(1, 8192);
	strcpy(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"x\":");
	memset(text + strlen(text), '[', 2040);
	memset(text + strlen(text), ']', 2040);
	strcat(text, "}}\n");
	say(f, fd, text);
	assert_int_equal(f->calls, 1);
	free(text);
	close(fd);
	settle(f);
	assert_alive(f);
}

static void
a_hundred_clients(void **state)
{
	struct fixture *f = *state;
	int fds[100];

	for (int i = 0; i < 100; i++) {
		fds[i] = client(f);
		if (i % 10 == 9)
			settle(f);
	}
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		say(f, fds[i], PING);
		expect(f, fds[i], PONG);
	}
	for (int i = CONTROL_CLIENTS_MAX; i < 100; i++) {
		expect_error(f, fds[i], -32000, "16 clients are connected already", true);
		close(fds[i]);
	}
	assert_int_equal(f->calls, CONTROL_CLIENTS_MAX);
	close(fds[3]);
	settle(f);
	assert_alive(f); /* in the place of the fourth */
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (i != 3)
			close(fds[i]);
}

static void
clients_that_vanish(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 200; i++) {
		int fd = client(f);

		if (i % 4 == 1)
			say(f, fd, "{\"jsonrpc\": \"2.0\", "); /* in the middle of a message */
		else if (i % 4 == 2)
			(void)!write(fd, PING PING, 2 * (sizeof(PING) - 1)); /* before the reply */
		else if (i % 4 == 3)
			say(f, fd, PING PING); /* with replies unread */
		close(fd);
		if (i % 8 == 7)
			settle(f);
	}
	settle(f);
	assert_alive(f);
}

static void
deaf_client_is_closed_and_nobody_else(void **state)
{
	static char padding[100001];
	struct fixture *f = *state;
	char *text = NULL;
	int deaf = client(f), other = client(f), sent = 0;
	bool closed;

	memset(padding, 'x', sizeof(padding) - 1);
	assert_true(asprintf(&text,
			     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\","
			     "\"params\":{\"x\":\"%s\"}}\n",
			     padding) > 0);
	while (sent < 100 && say_octets(f, deaf, text, strlen(text))) {
		sent++;
		say(f, other, PING);
		expect(f, other, PONG);
	}
	assert_in_range(sent, 10, 30); /* 1 MiB here, what the socket takes besides */
	hear(f, deaf, &closed);
	assert_true(closed);
	say(f, other, PING);
	expect(f, other, PONG);
	free(text);
	close(deaf);
	close(other);
}

static void
out_of_descriptors(void **state)
{
	enum { LIMIT = 64 };
	struct fixture *f = *state;
	int old = client(f), waiting = client(f), fillers[LIMIT], n = 0;
	struct rlimit limit, low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = LIMIT;
	settle(f); /* both are clients now; this one will wait: */
	close(waiting);
	settle(f);
	waiting = client(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while (n < LIMIT && (fillers[n] = dup(old)) >= 0)
		n++;
	expect_error(f, waiting, -32000, "out of file descriptors", true); /* and no spinning */
	say(f, old, PING);
	expect(f, old, PONG);
	while (n > 0)
		close(fillers[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(old);
	close(waiting);
	settle(f);
	assert_alive(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(malformed_json_closes),
		TEST(embedded_nul_closes),
		TEST(largest_message_passes_larger_closes),
		TEST(message_without_end_closes),
		TEST(deep_nesting_closes),
		TEST(a_hundred_clients),
		TEST(clients_that_vanish),
		TEST(deaf_client_is_closed_and_nobody_else),
		TEST(out_of_descriptors),
	};

	return cmocka_run_group_tests_name("control_hostile", tests, NULL, NULL);
}
