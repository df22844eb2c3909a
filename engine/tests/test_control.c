/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket and clients that mean well. The others: test_control_hostile.c.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/control_fixture.h"

static void
socket_is_private_and_removed(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	struct control *again;
	char path[128];
	struct stat status;
	mode_t mask = umask(0);

	assert_int_equal(stat(f->path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	snprintf(path, sizeof(path), "%s/second.sock", f->dir);
	assert_int_equal(control_open(&again, path, dispatch, f, &err), 0);
	umask(mask);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	control_close(again);
	assert_int_equal(stat(path, &status), -1);
	control_close(NULL);
}

static void
open_refuses(void **state)
{
	struct fixture *f = *state;
	struct control *control = (struct control *)f;
	struct error err = {0};
	char path[128];
	struct stat status;

	assert_int_equal(control_open(&control, f->path, dispatch, f, &err), -EADDRINUSE);
	assert_null(control);
	assert_non_null(strstr(err.text, "use a fresh run directory"));
	assert_int_equal(stat(f->path, &status), 0); /* the other's socket is left alone */
	memset(path, 'x', sizeof(path));
	path[108] = '\0';
	assert_int_equal(control_open(&control, path, dispatch, f, &err), -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "1 to 107 octets, not 108"));
	assert_int_equal(control_open(&control, "", dispatch, f, &err), -ENAMETOOLONG);
	assert_int_equal(control_open(&control, "/nowhere/x.sock", dispatch, f, NULL), -ENOENT);
	assert_null(control);
}

static void
descriptors_are_closed_on_exec(void **state)
{
	struct fixture *f = *state;
	struct control *control;
	bool known[256];
	char path[128];
	int found = 0, fd;

	for (int i = 0; i < 256; i++)
		known[i] = fcntl(i, F_GETFD) >= 0;
	snprintf(path, sizeof(path), "%s/second.sock", f->dir);
	assert_int_equal(control_open(&control, path, dispatch, f, NULL), 0);
	fd = client(f);
	settle(f);
	for (int i = 0; i < 256; i++) {
		int flags = fcntl(i, F_GETFD);

		if (flags < 0 || known[i])
			continue;
		found++;
		assert_int_equal(flags & FD_CLOEXEC, FD_CLOEXEC);
	}
	assert_int_equal(found, 5); /* listening, epoll, spare; both ends of the client */
	control_close(control);
	close(fd);
}

static void
requests_are_answered(void **state)
{
	static const struct {
		const char *request, *reply;
	} rows[] = {
		{PING, PONG},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u00e9\",\"method\":\"ping\"}\r\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":\"a\xc3\xa9\",\"result\":{}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":-9223372036854775808,\"method\":\"echo\","
		 "\"params\":{\"b\":[1,2.5,null],\"a\":\"x\"}}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":-9223372036854775808,"
		 "\"result\":{\"b\":[1,2.5,null],\"a\":\"x\"}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"decode\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
		 "\"message\":\"it is 0; it must be more\","
		 "\"data\":{\"path\":\"ports[0].mbufs\",\"errno\":\"EINVAL\"}}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"busy\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,"
		 "\"message\":\"ports are open; once is enough\","
		 "\"data\":{\"path\":\"ports\",\"errno\":\"EBUSY\"}}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\\u0007\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
		 "\"message\":\"there is no method \\\"x?\\\"\","
		 "\"data\":{\"path\":\"method\",\"errno\":\"ENOSYS\"}}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"enosys\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,"
		 "\"message\":\"the device cannot do this\","
		 "\"data\":{\"path\":\"ports[0]\",\"errno\":\"ENOSYS\"}}}\n"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"silent\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,"
		 "\"message\":\"silent failed and did not say why; this is a bug\","
		 "\"data\":{\"path\":\"\",\"errno\":\"EIO\"}}}\n"},
	};
	struct fixture *f = *state;
	int fd = client(f);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		say(f, fd, rows[i].request);
		expect(f, fd, rows[i].reply);
	}
	close(fd);
}

/* JSON, but no request: refused, and the connection lives on. */
static void
bad_requests_are_refused(void **state)
{
	static const struct {
		const char *request;
		int code;
		const char *words;
	} rows[] = {
		{"[]\n", -32600, "no batches"},
		{"["
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
		 -32600, "no batches"},
		{"{}\n", -32600, "must be \\\"2.0\\\""},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", -32600,
		 "\"jsonrpc\",\"errno"},
		{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}\n", -32600,
		 "\"path\":\"jsonrpc\""},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n", -32600, "no notifications"},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", -32600, "\"id\":null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n", -32600, "\"id\":null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}\n", -32600, "\"id\":null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}\n", -32600, "\"id\":null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}\n", -32600, "\"id\":1,\"error\""},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n", -32600, "must be a string"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"extra\":0}\n", -32600,
		 "\\\"extra\\\" does not belong"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}\n", -32602,
		 "\"path\":\"params\",\"errno\":\"EINVAL\""},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}\n", -32602,
		 "must be an object"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}\n", -32601, "no method \\\"\\\""},
	};
	struct fixture *f = *state;
	char long_id[400];
	int fd = client(f);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		say(f, fd, rows[i].request);
		expect_error(f, fd, rows[i].code, rows[i].words, false);
	}
	snprintf(long_id, sizeof(long_id),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"%0129d\",\"method\":\"ping\"}\n", 0);
	say(f, fd, long_id);
	expect_error(f, fd, -32600, "at most 128 octets", false);
	assert_int_equal(f->calls, 1); /* the unknown method */
	say(f, fd, PING);
	expect(f, fd, PONG);
	close(fd);
}

static void
partial_messages_are_joined(void **state)
{
	struct fixture *f = *state;
	int fd = client(f);
	bool closed;

	for (const char *c = PING; *c != '\0'; c++) {
		assert_string_equal(hear(f, fd, &closed), "");
		assert_true(say_octets(f, fd, c, 1));
	}
	expect(f, fd, PONG);
	/* one and a half, then the other half */
	say(f, fd, PING "{\"jsonrpc\": \"2.0\", ");
	expect(f, fd, PONG);
	say(f, fd, "\"id\": 1, \"method\": \"ping\"}\n");
	expect(f, fd, PONG);
	close(fd);
}

static void
pipelined_requests_are_answered_in_order(void **state)
{
	enum { REQUESTS = 2000 };
	struct fixture *f = *state;
	char *text = calloc(REQUESTS, 80), *wanted = calloc(REQUESTS, 80);
	size_t text_len = 0, wanted_len = 0;
	int fd = client(f);

	for (int i = 0; i < REQUESTS; i++) {
		text_len +=
			(size_t)sprintf(text + text_len,
					"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", i);
		wanted_len += (size_t)sprintf(wanted + wanted_len,
					      "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n", i);
	}
	assert_true(say_octets(f, fd, text, text_len));
	expect(f, fd, wanted);
	assert_int_equal(f->calls, REQUESTS);
	free(text);
	free(wanted);
	close(fd);
}

static void
half_closed_client_gets_its_replies(void **state)
{
	struct fixture *f = *state;
	int fd = client(f);
	bool closed;

	assert_true(write(fd, PING PING "{\"half", 2 * sizeof(PING) - 2 + 6) > 0);
	shutdown(fd, SHUT_WR);
	assert_string_equal(hear(f, fd, &closed), PONG PONG);
	assert_true(closed);
	close(fd);
}

static void
slow_reader_gets_everything_in_the_end(void **state)
{
	static char padding[500001];
	struct fixture *f = *state;
	char *text = NULL;
	bool closed;
	int fd = client(f);
	const char *heard;

	memset(padding, 'x', sizeof(padding) - 1);
	assert_true(asprintf(&text,
			     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\","
			     "\"params\":{\"x\":\"%s\"}}\n",
			     padding) > 0);
	say(f, fd, text); /* the reply does not fit the socket */
	say(f, fd, text);
	heard = hear(f, fd, &closed);
	assert_false(closed);
	assert_int_equal(strlen(heard), 2 * strlen("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
						   "{\"x\":\"\"}}\n") +
						2 * 500000);
	say(f, fd, PING);
	expect(f, fd, PONG);
	free(text);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(socket_is_private_and_removed),
		TEST(open_refuses),
		TEST(descriptors_are_closed_on_exec),
		TEST(requests_are_answered),
		TEST(bad_requests_are_refused),
		TEST(partial_messages_are_joined),
		TEST(pipelined_requests_are_answered_in_order),
		TEST(half_closed_client_gets_its_replies),
		TEST(slow_reader_gets_everything_in_the_end),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
