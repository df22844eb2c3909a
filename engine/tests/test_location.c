/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Location strings: which device and arguments each scheme becomes, and what is refused.
 *
 * Run by `meson test`, no DPDK. Sources: docs/design/0002 (PORT), the DPDK NIC guides.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/test_support.h"

#include "device/location.h"

enum { TEXT_MAX = 700 };

static struct location
parse(const char *text)
{
	struct location location;
	struct error err = {0};

	if (location_parse(&location, text, 7, 4, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(err.code, 0);
	return location;
}

static void
every_scheme_has_its_device(void **state)
{
	static const struct {
		const char *text;
		enum location_kind kind;
		const char *device, *args, *interface;
	} rows[] = {
		{"0000:03:00.0", LOCATION_PCI, "0000:03:00.0", "", ""},
		{"0000:3b:1f.7,foo=1", LOCATION_PCI, "0000:3b:1f.7", "", ""},
		{"ring:demo", LOCATION_RING, "demo", "", ""},
		{"null:a", LOCATION_NULL, "net_null7", "copy=0,no-rx=1", ""},
		{"null:a,size=64", LOCATION_NULL, "net_null7", "copy=0,no-rx=1,size=64", ""},
		{"vhost:/run/v", LOCATION_VHOST, "net_vhost7", "iface=/run/v,queues=4", ""},
		{"vhost:/run/v,client=1", LOCATION_VHOST, "net_vhost7",
		 "iface=/run/v,queues=4,client=1", ""},
		{"virtio-user:/run/v", LOCATION_VIRTIO_USER, "net_virtio_user7",
		 "path=/run/v,queues=4,queue_size=1024", ""},
		{"virtio-user:/run/v,queue_size=256", LOCATION_VIRTIO_USER, "net_virtio_user7",
		 "path=/run/v,queues=4,queue_size=256", ""},
		{"virtio-user:/dev/vhost-net,iface=vu0", LOCATION_VIRTIO_USER, "net_virtio_user7",
		 "path=/dev/vhost-net,queues=4,queue_size=1024,iface=vu0", "vu0"},
		{"virtio-user:/dev/vhost-net,mac=02:00:00:00:00:01,iface=vu0,queue_size=512",
		 LOCATION_VIRTIO_USER, "net_virtio_user7",
		 "path=/dev/vhost-net,queues=4,mac=02:00:00:00:00:01,iface=vu0,queue_size=512",
		 "vu0"},
		{"virtio-user:/run/v,iface=vu0", LOCATION_VIRTIO_USER, "net_virtio_user7",
		 "path=/run/v,queues=4,queue_size=1024,iface=vu0", ""},
		{"kni:kni3", LOCATION_KNI, "net_kni3", "", "kni3"},
		{"tap:wr0", LOCATION_TAP, "net_tap7", "iface=wr0", "wr0"},
		{"af_packet:eth0", LOCATION_AF_PACKET, "net_af_packet7",
		 "iface=eth0,qpairs=4,framecnt=4096", "eth0"},
		{"af_packet:eth0,framecnt=64", LOCATION_AF_PACKET, "net_af_packet7",
		 "iface=eth0,qpairs=4,framecnt=64", "eth0"},
		{"af_xdp:eth0", LOCATION_AF_XDP, "net_af_xdp7",
		 "iface=eth0,start_queue=0,queue_count=4", "eth0"},
		{"af_xdp:eth0,force_copy=1", LOCATION_AF_XDP, "net_af_xdp7",
		 "iface=eth0,start_queue=0,queue_count=4,force_copy=1", "eth0"},
		{"pcap:in.pcap,out.pcap", LOCATION_PCAP, "net_pcap7",
		 "rx_pcap=in.pcap,tx_pcap=out.pcap", ""},
		{"pcap:in.pcap", LOCATION_PCAP, "net_pcap7", "rx_pcap=in.pcap", ""},
		{"pcap:in.pcap,", LOCATION_PCAP, "net_pcap7", "rx_pcap=in.pcap", ""},
		{"pcap:,out.pcap", LOCATION_PCAP, "net_pcap7", "tx_pcap=out.pcap", ""},
		{"vdev:net_null0", LOCATION_VDEV, "net_null0", "", ""},
		{"vdev:net_bonding0,mode=1,member=a", LOCATION_VDEV, "net_bonding0",
		 "mode=1,member=a", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct location location = parse(rows[i].text);

		assert_int_equal(location.kind, rows[i].kind);
		assert_string_equal(location.device, rows[i].device);
		assert_string_equal(location.args, rows[i].args);
		assert_string_equal(location.interface, rows[i].interface);
	}
}

/* A socket bound to `path`, not listening yet. '@' first: abstract, as in /proc/net/unix. */
static int
bound_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	assert_return_code(bind(fd, (struct sockaddr *)&address,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
			   errno);
	return fd;
}

static void
check_memif(const char *socket_path, const char *devargs, const char *expected)
{
	char text[256], args[512];
	struct location location;

	snprintf(text, sizeof(text), "memif:%s%s", socket_path, devargs);
	snprintf(args, sizeof(args), "socket=%s%s", socket_path, expected);
	location = parse(text);
	assert_int_equal(location.kind, LOCATION_MEMIF);
	assert_string_equal(location.device, "net_memif7");
	assert_string_equal(location.args, args);
}

static void
memif_role_follows_the_socket(void **state)
{
	char dir[] = "/tmp/wirerate-test-XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/memif", dir);
	check_memif(path, "", ",socket-abstract=no,role=server");
	fd = bound_socket(path);
	assert_false(
		location_socket_is_listening(path)); /* bound is not listening: it may be stale */
	check_memif(path, "", ",socket-abstract=no,role=server");
	assert_return_code(listen(fd, 1), errno);
	assert_true(location_socket_is_listening(path));
	check_memif(path, "", ",socket-abstract=no,role=client");
	check_memif(path, ",bsize=4096", ",socket-abstract=no,role=client,bsize=4096");
	path[strlen(path) - 1] = '\0'; /* a prefix is another socket */
	assert_false(location_socket_is_listening(path));
	close(fd);
	path[strlen(path)] = 'f';
	assert_false(location_socket_is_listening(path));
	check_memif(
		path, "",
		",socket-abstract=no,role=server"); /* the file is still there, nobody listens */
	unlink(path);
	rmdir(dir);
}

static void
memif_takes_the_users_word(void **state)
{
	(void)state;
	check_memif("/tmp/m", ",role=client", ",socket-abstract=no,role=client");
	check_memif("/tmp/m", ",bsize=1,role=server", ",socket-abstract=no,bsize=1,role=server");
	check_memif("/tmp/m", ",socket-abstract=yes,role=client",
		    ",socket-abstract=yes,role=client");
	check_memif("/tmp/m", ",socket-abstract=yes", ",role=server,socket-abstract=yes");
}

static void
memif_finds_an_abstract_listener(void **state)
{
	int fd;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "@wirerate-test-%d", (int)getpid());
	fd = bound_socket(path);
	assert_return_code(listen(fd, 1), errno);
	check_memif(path + 1, ",socket-abstract=yes", ",role=client,socket-abstract=yes");
	close(fd);
}

static void
listener_with_a_space_in_its_path(void **state)
{
	char dir[] = "/tmp/wirerate-test-XXXXXX", path[64];
	int fd;
	bool found, prefix;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a b", dir);
	fd = bound_socket(path);
	assert_return_code(listen(fd, 1), errno);
	found = location_socket_is_listening(path);
	close(fd);
	unlink(path);
	fd = bound_socket(path);
	assert_return_code(listen(fd, 1), errno);
	path[strlen(path) - 2] = '\0';
	prefix = location_socket_is_listening(path);
	close(fd);
	path[strlen(path)] = ' ';
	unlink(path);
	rmdir(dir);
	assert_true(found);
	assert_false(prefix);
}

static void
check_refused(const char *text, const char *reason)
{
	struct location location;
	struct error err = {0};

	if (location_parse(&location, text, 0, 1, &err) == 0)
		fail_msg("\"%s\" is accepted", text);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.path, "");
	if (strstr(err.text, reason) == NULL || strstr(err.text, text) == NULL)
		fail_msg("\"%s\" is refused with \"%s\", without \"%s\"", text, err.text, reason);
	assert_int_equal(location_parse(&location, text, 0, 1, NULL), -EINVAL);
}

static void
bad_ones_are_refused(void **state)
{
	static const char *const unknown[] = {"",           "eth0",        "ring",  "rings:a",
					      "Ring:a",     ":a",          "a:b:c", "03:00:00",
					      "0000:03:00", "0000:03:00,0"};
	static const char *const nameless[] = {
		"ring:", "null:",      "memif:",  "vhost:", "virtio-user:",
		"tap:",  "af_packet:", "af_xdp:", "vdev:",  "memif:,role=client",
		"pcap:", "pcap:,"};

	(void)state;
	for (size_t i = 0; i < COUNT(unknown); i++) {
		check_refused(unknown[i], "not a PCI address, ring:NAME");
		check_refused(unknown[i], "pcap:IN,OUT or vdev:ARGS");
	}
	for (size_t i = 0; i < COUNT(nameless); i++)
		check_refused(nameless[i], "a name is missing after \"");
	check_refused("tap:", "after \"tap:\"");
	check_refused("ring:longer-than-a-name-of-rte-ring", "too long a name after \"ring:\"");
	check_refused("tap:0123456789012345678901234567890123456789012345678901234567890123",
		      "too long a name");
	check_refused("vdev:0123456789012345678901234567890123456789012345678901234567890123",
		      "too long a name");
}

/* Else the kernel refuses the ring, or the driver takes a part of the number. */
static void
rings_that_the_kernel_would_not_take(void **state)
{
	static const char *const after[] = {
		",framecnt=0",        ",framecnt=63",
		",framecnt=",         ",framecnt=-64",
		",framecnt=65538",    ",framecnt=6x",
		",framecnt=64,iface", ",framecnt=99999999999999999998",
		",blocksz=4096",      ",",
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < COUNT(after); i++) {
		snprintf(text, sizeof(text), "af_packet:eth0%s", after[i]);
		check_refused(text, "framecnt=N, an even number from 2 to 65,536");
	}
	assert_string_equal(parse("af_packet:e,framecnt=65536").args,
			    "iface=e,qpairs=4,framecnt=65536");
}

static void
a_pci_address_is_checked_whole(void **state)
{
	(void)state;
	check_refused("0000:03:00.0xyz", "not a PCI address");
	check_refused("0000:03:00.0.1", "not a PCI address");
	check_refused(" 000:03:00.0", "not a PCI address");
	check_refused("-1:03:00.0", "not a PCI address");
	assert_int_equal(parse("03:00.0").kind,
			 LOCATION_PCI); /* without domain, as lspci prints it */
}

static void
a_ring_with_devargs_is_not_too_long(void **state)
{
	struct location location;
	struct error err = {0};

	(void)state;
	assert_int_equal(location_parse(&location, "ring:a,b=1", 0, 1, &err), -EINVAL);
	assert_null(strstr(err.text, "too long"));
}

/* The configuration lets 255 octets through, as many as an error text holds. */
static void
the_reason_is_seen_with_long_locations(void **state)
{
	char text[256];
	struct location location;
	struct error err = {0};

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(location_parse(&location, text, 0, 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "vdev:ARGS"));
	memcpy(text, "tap:", 4);
	assert_int_equal(location_parse(&location, text, 0, 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too long a name"));
}

static void
the_kernels_devices(void **state)
{
	struct location location = parse("virtio-user:/dev/vhost-net,iface=vu0");
	const char *module = NULL;

	(void)state;
	assert_string_equal(location_kernel_device(&location, &module), "/dev/vhost-net");
	assert_string_equal(module, "vhost_net");
	location = parse("kni:kni0");
	assert_string_equal(location_kernel_device(&location, &module), "/dev/kni");
	assert_string_equal(module, "rte_kni");
	location = parse("virtio-user:/run/v,iface=vu0");
	assert_null(location_kernel_device(&location, &module));
	location = parse("tap:vu0");
	assert_null(location_kernel_device(&location, &module));
}

static void
names_that_the_kernel_would_not_take(void **state)
{
	static const char *const virtio[] = {
		"iface=",
		"iface=a/b",
		"iface=0123456789abcdef",
		"mac=02:00:00:00:00:01,iface=..",
		"iface=a b",
		"iface=.",
		"iface=a:b,queue_size=8",
		"iface=,mac=02:00:00:00:00:01",
	};
	static const char *const kni[] = {"kni/0", "eth0", "kni:0", "kni0123456789abc", "ki"};
	char text[100];

	(void)state;
	for (size_t i = 0; i < COUNT(virtio); i++) {
		snprintf(text, sizeof(text), "virtio-user:/dev/vhost-net,%s", virtio[i]);
		check_refused(text, "an iface that is no interface name");
	}
	for (size_t i = 0; i < COUNT(kni); i++) {
		snprintf(text, sizeof(text), "kni:%s", kni[i]);
		check_refused(text, "no interface name of at most 15 octets that begins with kni");
	}
	check_refused("virtio-user:/dev/vhost-net",
		      "iface=NAME, the kernel's name of it, is missing");
	check_refused("virtio-user:/dev/vhost-net,xiface=a", "iface=NAME");
	check_refused("kni:kni0,a=1", "arguments that it does not take");
}

static void
check_length(const char *scheme, size_t length, size_t comma)
{
	static char text[TEXT_MAX];
	struct location out;

	memset(text, 'n', strlen(scheme) + length);
	memcpy(text, scheme, strlen(scheme));
	text[strlen(scheme) + comma] = ',';
	text[strlen(scheme) + length] = '\0';
	if (location_parse(&out, text, UINT32_MAX, UINT16_MAX, NULL) != 0)
		return;
	assert_non_null(memchr(out.device, '\0', sizeof(out.device)));
	assert_non_null(memchr(out.args, '\0', sizeof(out.args)));
	assert_non_null(memchr(out.interface, '\0', sizeof(out.interface)));
	/* Nothing is cut off silently, but for a null's name and a PCI's devargs. */
	if (out.kind != LOCATION_NULL && out.kind != LOCATION_PCI)
		assert_true(strlen(out.device) + strlen(out.args) + 1 >= length);
}

/* Every length of every part, also beyond what the configuration lets through (ASan). */
static void
lengths_never_overflow(void **state)
{
	static const char *const schemes[] = {"",           "ring:",
					      "null:",      "memif:",
					      "vhost:",     "virtio-user:",
					      "tap:",       "pcap:",
					      "af_packet:", "af_xdp:",
					      "vdev:",      "0000:03:00.0",
					      "kni:",       "virtio-user:/dev/vhost-net,iface="};

	(void)state;
	for (size_t s = 0; s < COUNT(schemes); s++) {
		for (size_t length = 0; length < 600; length++) {
			for (size_t comma = 0; comma <= length; comma += 1 + length / 16)
				check_length(schemes[s], length, comma);
		}
	}
}

static void
real_lines(void **state)
{
	struct location veth = {.kind = LOCATION_AF_PACKET, .interface = "lo"};
	struct location location = parse("0000:03:00.0");

	(void)state;
	assert_true(location_has_line(&location));
	assert_false(location_has_line(&veth));
	veth.kind = LOCATION_AF_XDP;
	assert_false(location_has_line(&veth));
	memset(veth.interface, 'x', sizeof(veth.interface) - 1);
	assert_false(location_has_line(&veth));
	location = parse("tap:lo");
	assert_false(location_has_line(&location));
	location = parse("ring:a");
	assert_false(location_has_line(&location));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scheme_has_its_device),
		cmocka_unit_test(memif_role_follows_the_socket),
		cmocka_unit_test(memif_takes_the_users_word),
		cmocka_unit_test(memif_finds_an_abstract_listener),
		cmocka_unit_test(listener_with_a_space_in_its_path),
		cmocka_unit_test(bad_ones_are_refused),
		cmocka_unit_test(rings_that_the_kernel_would_not_take),
		cmocka_unit_test(a_pci_address_is_checked_whole),
		cmocka_unit_test(a_ring_with_devargs_is_not_too_long),
		cmocka_unit_test(the_reason_is_seen_with_long_locations),
		cmocka_unit_test(the_kernels_devices),
		cmocka_unit_test(names_that_the_kernel_would_not_take),
		cmocka_unit_test(lengths_never_overflow),
		cmocka_unit_test(real_lines),
	};

	return cmocka_run_group_tests_name("location", tests, NULL, NULL);
}
