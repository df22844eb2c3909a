/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel drops at a full ring of a packet socket is counted to the frame, once, and only of a port's own.
 *
 * Run by `meson test`, without DPDK; in a network namespace of its own, whose loopback nobody else talks on, and so as
 * root, else skipped. Source: device/socket_drops.h, packet(7).
 */
#include "tests/test_support.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/socket_drops.h"

enum { RING = 8, FRAME = 60, LOOPBACK = 1 };

static int
open_packet_socket(void)
{
	int made = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(made >= 0);
	return made;
}

/* A socket that receives what arrives at the loopback into a ring of RING frames that nobody empties. */
static int
open_port(void)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = LOOPBACK};
	struct tpacket_req ring = {4096, 1, 4096 / RING, RING};
	int made = open_packet_socket(), version = TPACKET_V2, on = 1;

	assert_int_equal(setsockopt(made, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)),
			 0);
	assert_int_equal(setsockopt(made, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)), 0);
	assert_int_equal(setsockopt(made, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)), 0);
	assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof(address)), 0);
	return made;
}

static void
flood(int sender, unsigned int frames)
{
	const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = LOOPBACK};
	uint8_t frame[FRAME] = {0};

	for (unsigned int i = 0; i < frames; i++)
		assert_int_equal(sendto(sender, frame, sizeof(frame), 0,
					(const struct sockaddr *)&address, sizeof(address)),
				 FRAME);
}

/* True in a new namespace with its loopback up. */
static bool
move_to_new_namespace(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	bool up;
	int any;

	if (unshare(CLONE_NEWNET) != 0)
		return false;
	any = socket(AF_INET, SOCK_DGRAM, 0);
	up = ioctl(any, SIOCSIFFLAGS, &request) == 0;
	close(any);
	return up;
}

static void
full_rings_are_counted_to_the_frame(void **state)
{
	struct socket_drops drops;
	struct tpacket_stats stats;
	socklen_t octets = sizeof(stats);
	int sender, port;

	(void)state;
	if (!move_to_new_namespace()) {
		print_message("skipped: no network namespace of its own (needs root)\n");
		skip();
	}
	sender = open_packet_socket();
	assert_int_equal(socket_drops_before(&drops), 0);
	port = open_port();
	assert_int_equal(socket_drops_after(&drops, "net_af_packet"), 0);
	assert_int_equal(drops.count, 1);
	assert_int_equal(drops.sockets[0], port);
	flood(sender, RING);
	assert_int_equal(socket_drops_read(&drops), 0);
	flood(sender, 92);
	assert_int_equal(socket_drops_read(&drops), 92);
	assert_int_equal(socket_drops_read(&drops), 0);
	flood(sender, 5);
	assert_int_equal(getsockopt(port, SOL_PACKET, PACKET_STATISTICS, &stats, &octets), 0);
	assert_int_equal(stats.tp_drops, 5); /* a driver that asks first has them */
	flood(sender, 3);
	assert_int_equal(socket_drops_read(&drops), 3);
	close(port);
	assert_int_equal(socket_drops_read(&drops), 0);
	socket_drops_close(&drops);
	close(sender);
}

static void
only_new_sockets_of_the_two_drivers_are_kept(void **state)
{
	struct socket_drops drops;
	int older, newer, other;

	(void)state;
	if (getuid() != 0) {
		print_message("skipped: packet sockets need root\n");
		skip();
	}
	older = open_packet_socket();
	for (int use = 0; use < 3; use++) {
		const char *drivers[] = {"net_af_packet", "net_af_xdp", "net_tap"};

		assert_int_equal(socket_drops_before(&drops), 0);
		newer = open_packet_socket();
		other = socket(AF_INET, SOCK_DGRAM, 0);
		assert_int_equal(socket_drops_after(&drops, drivers[use]), 0);
		assert_int_equal(drops.count, use == 0);
		if (use == 0)
			assert_int_equal(drops.sockets[0], newer);
		socket_drops_close(&drops);
		socket_drops_close(&drops);
		close(newer);
		close(other);
	}
	close(older);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_new_sockets_of_the_two_drivers_are_kept),
		cmocka_unit_test(full_rings_are_counted_to_the_frame),
	};

	return cmocka_run_group_tests_name("socket drops", tests, NULL, NULL);
}
