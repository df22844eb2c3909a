/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/counters_words.h"

#include <assert.h>
#include <stddef.h>

#include "counters/bridge_counters.h"
#include "counters/flow_counters.h"
#include "counters/worker_counters.h"

static_assert(sizeof(struct rx_counters) == 128, "one pair of cache lines");
static_assert(offsetof(struct flow_counters, latency_cycles) == 128,
	      "the histogram behind the plain words");
static_assert(sizeof(struct forward_counters) == 128, "one pair of cache lines");
static_assert(sizeof(struct capture_counters) == 128, "one pair of cache lines");
static_assert(sizeof(struct reply_counters) == 128, "one pair of cache lines");
static_assert(sizeof(struct bridge_counters) == 256, "two pairs of cache lines");
static_assert(sizeof(struct worker_counters) == 256, "two pairs of cache lines");
static_assert(offsetof(struct worker_counters, sampled_ns) == 128, "the control thread's pair");
static_assert(sizeof(struct port_counters) == 256, "two pairs of cache lines");
static_assert(sizeof(struct engine_counters) == 128, "one pair of cache lines");
static_assert(offsetof(struct tx_counters, burst_cycles) == 128,
	      "histograms behind the plain words");

#define WORD(block, field, unit, meaning) \
	{ \
		#field, \
		unit, \
		offsetof(struct block, field) / 8, \
		sizeof(((struct block *)0)->field) / 8, \
		0, \
		meaning}
#define HISTOGRAM(block, field, sub_bits, meaning) \
	{#field, \
	 "cycles", \
	 offsetof(struct block, field) / 8, \
	 sizeof(((struct block *)0)->field) / 8, \
	 sub_bits, \
	 meaning}

#define DISTINCT_FLOWS_MEANING "different 5-tuples received, where they are counted"
#define DISTINCT_OVERFLOW_MEANING "of 5-tuples for which there was no room"

static const struct counters_word engine_words[] = {
	WORD(engine_counters, start_tsc, "cycles", "clock at which transmission starts; 0 before"),
	WORD(engine_counters, stop_tsc, "cycles",
	     "clock at which transmission is to end; all ones when open"),
	WORD(engine_counters, heartbeat_tsc, "cycles",
	     "clock of the control thread's last tick, every 100 ms"),
	WORD(engine_counters, user_ns, "ns", "user CPU time of the engine process (getrusage)"),
	WORD(engine_counters, system_ns, "ns", "system CPU time of the engine process (getrusage)"),
	WORD(engine_counters, resident_max_octets, "octets",
	     "largest resident set so far (getrusage)"),
	WORD(engine_counters, clock_error_ns, "ns",
	     "by which the TSC and the kernel's raw clock came apart between two ticks, beyond 200 ppm, max"),
	WORD(engine_counters, time_jump_ns, "ns",
	     "by which the time of day was set between two ticks, max"),
	WORD(engine_counters, clock_drift_ns, "ns",
	     "by which the TSC, at the segment's tsc_hz, and the kernel's raw clock came apart in clock_watched_ns"),
	WORD(engine_counters, clock_watched_ns, "ns",
	     "by the kernel's raw clock, from the program's start to the last tick"),
	WORD(engine_counters, run_hz, "Hz",
	     "frequency of the TSC over clock_watched_ns; 0 where it is not known to 5 ppm"),
};

static const struct counters_word port_words[] = {
	WORD(port_counters, sampled_tsc, "cycles", "clock when the device was asked"),
	WORD(port_counters, ipackets, "frames", "received by the device (rte_eth_stats)"),
	WORD(port_counters, opackets, "frames", "sent by the device (rte_eth_stats)"),
	WORD(port_counters, ibytes, "octets",
	     "received by the device, as it counts them (FCS or not)"),
	WORD(port_counters, obytes, "octets", "sent by the device, as it counts them (FCS or not)"),
	WORD(port_counters, imissed, "frames", "dropped by the device: no free Rx descriptor"),
	WORD(port_counters, ierrors, "frames", "received damaged"),
	WORD(port_counters, oerrors, "frames", "failed to send"),
	WORD(port_counters, rx_nombuf, "frames", "not received for want of an mbuf"),
	WORD(port_counters, link_up, "", "1 when the link is up"),
	WORD(port_counters, link_speed_bps, "bit/s", "link speed as reported, real or not"),
	WORD(port_counters, resets, "",
	     "times the device cleared its counters (memif: when a peer leaves)"),
	WORD(port_counters, socket_drops, "frames",
	     "dropped by the kernel at the port's sockets, and not in imissed"),
	WORD(port_counters, pause_frames, "frames",
	     "PAUSE frames received: the link partner asked this port to wait"),
	WORD(port_counters, link_changes, "", "changes of link state since it was first up"),
	WORD(port_counters, drained_frames, "frames",
	     "in ipackets, read from the queues after the workers had stopped"),
	WORD(port_counters, uncertain_frames, "frames",
	     "read from the queues next to a reading of the device's counters: in ipackets or not"),
};

static const struct counters_word worker_words[] = {
	WORD(worker_counters, start_tsc, "cycles", "clock when the worker began to poll"),
	WORD(worker_counters, now_tsc, "cycles", "the worker's last look at the clock"),
	WORD(worker_counters, stalls, "", "gaps of over 100 us between two looks at the clock"),
	WORD(worker_counters, stall_cycles, "cycles", "sum of those gaps"),
	WORD(worker_counters, stall_max_cycles, "cycles",
	     "the longest gap between two looks at the clock"),
	WORD(worker_counters, state, "", "0 waiting, 1 polling, 2 stopped: its counters are final"),
	WORD(worker_counters, sleeps, "", "times that the lcore was let go for want of work"),
	WORD(worker_counters, sleep_cycles, "cycles", "for how long in all"),
	WORD(worker_counters, began_ns, "ns", "CLOCK_MONOTONIC_RAW when the worker began to poll"),
	WORD(worker_counters, noted_lost_ns, "ns",
	     "without its CPU as far as the worker has noted it; exact when it has stopped"),
	WORD(worker_counters, cpu_lost_max_ns, "ns", "the longest such time"),
	WORD(worker_counters, sampled_ns, "ns", "CLOCK_MONOTONIC_RAW to which cpu_lost_ns belongs"),
	WORD(worker_counters, cpu_lost_ns, "ns",
	     "time in which the worker had no CPU though it wanted one, since it began"),
};

static const struct counters_word tx_words[] = {
	WORD(tx_counters, frames, "frames", "taken by the device"),
	WORD(tx_counters, octets, "octets", "of the frames taken, with FCS"),
	WORD(tx_counters, frames_unsent, "frames",
	     "due, but not taken by the device before their time was past"),
	WORD(tx_counters, frames_due, "frames",
	     "scheduled so far; without a rate: offered to the device"),
	WORD(tx_counters, bursts, "", "calls that sent at least one frame"),
	WORD(tx_counters, bursts_short, "",
	     "calls in which the device took fewer frames than offered"),
	WORD(tx_counters, busy_cycles, "cycles", "spent in calls that sent something"),
	WORD(tx_counters, first_tsc, "cycles", "clock before the first burst"),
	WORD(tx_counters, last_tsc, "cycles", "clock after the last burst"),
	WORD(tx_counters, lateness_max_cycles, "cycles",
	     "greatest lateness of a burst's first frame"),
	WORD(tx_counters, state, "", "0 waiting, 1 sending, 2 done"),
	WORD(tx_counters, active_flows, "flows",
	     "of a ramp, those of this part: active at the last burst, or at the end"),
	HISTOGRAM(
		tx_counters, burst_cycles, HISTOGRAM_SUB_BITS,
		"duration of the calls that sent something; several without a reading of the clock in "
		"between: their mean"),
	HISTOGRAM(tx_counters, lateness_cycles, HISTOGRAM_SUB_BITS,
		  "lateness of each burst's first frame against its schedule"),
};

static const struct counters_word rx_words[] = {
	WORD(rx_counters, frames, "frames", "received"),
	WORD(rx_counters, octets, "octets", "of the frames received, with FCS"),
	WORD(rx_counters, bursts, "", "calls that returned at least one frame"),
	WORD(rx_counters, busy_cycles, "cycles", "spent in calls that returned something"),
	WORD(rx_counters, first_frames, "frames", "received in the first burst"),
	WORD(rx_counters, foreign_frames, "frames", "without a stamp, where flows are measured"),
	WORD(rx_counters, strange_frames, "frames", "with a stamp of an unknown stream"),
	WORD(rx_counters, own_times, "frames", "measured by the device's own time of arrival"),
	WORD(rx_counters, bad_times, "frames",
	     "measured by the burst's clock for want of a usable time of the device"),
	WORD(rx_counters, damaged_frames, "frames",
	     "with wrong checksums or lengths, where flows are measured"),
	WORD(rx_counters, first_tsc, "cycles", "clock after the first burst received"),
	WORD(rx_counters, last_tsc, "cycles", "clock after the last burst received"),
	WORD(rx_counters, distinct_flows, "flows", DISTINCT_FLOWS_MEANING),
	WORD(rx_counters, distinct_overflow, "frames", DISTINCT_OVERFLOW_MEANING),
};

static const struct counters_word flow_words[] = {
	WORD(flow_counters, frames, "frames", "received of the flow, duplicates included"),
	WORD(flow_counters, octets, "octets", "of those, with FCS"),
	WORD(flow_counters, duplicates, "frames", "had arrived before"),
	WORD(flow_counters, reordered, "frames",
	     "behind one with a higher number, duplicates not counted (RFC 4737)"),
	WORD(flow_counters, too_late, "frames",
	     "too far behind to know whether they are duplicates or copies"),
	WORD(flow_counters, copies, "frames",
	     "new to this queue, but received by another queue of the flow's receivers before"),
	WORD(flow_counters, impossible, "frames",
	     "not counted: not sent yet by their stamp, or departed before the start, after "
	     "their arrival, or not between their neighbours"),
	WORD(flow_counters, first_tsc, "cycles", "clock after the first burst with one"),
	WORD(flow_counters, last_tsc, "cycles", "clock after the last burst with one"),
	WORD(flow_counters, latency_count, "frames", "whose latency is known: all but duplicates"),
	WORD(flow_counters, latency_min_cycles, "cycles", "least latency"),
	WORD(flow_counters, latency_max_cycles, "cycles", "greatest latency"),
	WORD(flow_counters, latency_sum_cycles, "cycles", "sum of the latencies"),
	WORD(flow_counters, ipdv_sum_cycles, "cycles",
	     "sum of the absolute differences of latencies that follow each other (RFC 3393)"),
	HISTOGRAM(flow_counters, latency_cycles, LATENCY_SUB_BITS, "latency"),
};

static const struct counters_word forward_words[] = {
	WORD(forward_counters, rx_frames, "frames", "received"),
	WORD(forward_counters, rx_octets, "octets", "of those, with FCS"),
	WORD(forward_counters, tx_frames, "frames", "sent"),
	WORD(forward_counters, tx_octets, "octets", "of those, with FCS"),
	WORD(forward_counters, dropped, "frames", "dropped as asked"),
	WORD(forward_counters, duplicated, "frames", "sent twice as asked"),
	WORD(forward_counters, reordered, "frames", "sent behind later ones as asked"),
	WORD(forward_counters, not_taken, "frames", "not taken by the device in time"),
	WORD(forward_counters, overflowed, "frames",
	     "lost for want of room in the delay line or of mbufs"),
	WORD(forward_counters, held, "frames", "delayed or held back at the moment"),
	WORD(forward_counters, busy_cycles, "cycles", "spent with frames"),
	WORD(forward_counters, first_tsc, "cycles", "clock after the first burst"),
	WORD(forward_counters, last_tsc, "cycles", "clock after the last burst"),
	WORD(forward_counters, distinct_flows, "flows", DISTINCT_FLOWS_MEANING),
	WORD(forward_counters, distinct_overflow, "frames", DISTINCT_OVERFLOW_MEANING),
	WORD(forward_counters, chained, "frames",
	     "of not_taken: received in several mbufs, which the device to send on cannot take"),
};

static const struct counters_word capture_words[] = {
	WORD(capture_counters, matched, "frames", "received that match the capture's filter"),
	WORD(capture_counters, stored, "frames", "of those, in memory at the moment"),
	WORD(capture_counters, missed, "frames", "not stored for want of room"),
	WORD(capture_counters, overwritten, "frames", "stored and given up for later ones"),
};

static const struct counters_word reply_words[] = {
	WORD(reply_counters, frames, "frames", "sent: taken by the device"),
	WORD(reply_counters, octets, "octets", "of those, with FCS"),
	WORD(reply_counters, arp, "frames", "ARP replies made"),
	WORD(reply_counters, neighbors, "frames", "neighbour advertisements made"),
	WORD(reply_counters, echoes, "frames", "echo replies of ICMP and ICMPv6 made"),
	WORD(reply_counters, not_taken, "frames", "made, but not taken by the device in time"),
	WORD(reply_counters, overflowed, "frames",
	     "asked for, but there was no room or no mbuf for them"),
	WORD(reply_counters, busy_cycles, "cycles", "spent in calls that sent something"),
};

static const struct counters_word bridge_words[] = {
	WORD(bridge_counters, rx_frames, "frames", "received, or taken from the ring"),
	WORD(bridge_counters, rx_octets, "octets", "of those, with FCS"),
	WORD(bridge_counters, kernel_frames, "frames", "handed over on the way to the kernel"),
	WORD(bridge_counters, kernel_octets, "octets", "of those, with FCS"),
	WORD(bridge_counters, kernel_lost, "frames",
	     "lost on that way: the ring was full, or the device took none in time"),
	WORD(bridge_counters, fast_frames, "frames", "handed over on the fast path"),
	WORD(bridge_counters, fast_octets, "octets", "of those, with FCS"),
	WORD(bridge_counters, fast_lost, "frames",
	     "lost on that way: the ring was full, or the device took none in time"),
	WORD(bridge_counters, addressed, "frames", "received for one of the task's addresses"),
	WORD(bridge_counters, completed, "frames", "whose checksum was computed"),
	WORD(bridge_counters, split, "frames", "that were too long, and cut"),
	WORD(bridge_counters, parts, "frames", "made of those"),
	WORD(bridge_counters, merged, "frames", "that went into a larger one"),
	WORD(bridge_counters, untouchable, "frames",
	     "to be completed or cut that could not be: passed as they are"),
	WORD(bridge_counters, held, "frames",
	     "waiting for a device; at the end, those left there and in the ring"),
	WORD(bridge_counters, held_max, "frames", "most that were found in the ring"),
	WORD(bridge_counters, busy_cycles, "cycles", "spent with frames"),
	WORD(bridge_counters, first_tsc, "cycles", "clock after the first burst"),
	WORD(bridge_counters, last_tsc, "cycles", "clock after the last burst"),
};

#define LAYOUT(kind, words) \
	{#kind, sizeof(struct kind##_counters), words, sizeof(words) / sizeof((words)[0])}

const struct counters_layout counters_layouts[COUNTERS_KINDS] = {
	[COUNTERS_ENGINE] = LAYOUT(engine, engine_words),
	[COUNTERS_PORT] = LAYOUT(port, port_words),
	[COUNTERS_WORKER] = LAYOUT(worker, worker_words),
	[COUNTERS_TX] = LAYOUT(tx, tx_words),
	[COUNTERS_RX] = LAYOUT(rx, rx_words),
	[COUNTERS_FLOW] = LAYOUT(flow, flow_words),
	[COUNTERS_FORWARD] = LAYOUT(forward, forward_words),
	[COUNTERS_CAPTURE] = LAYOUT(capture, capture_words),
	[COUNTERS_REPLY] = LAYOUT(reply, reply_words),
	[COUNTERS_BRIDGE] = LAYOUT(bridge, bridge_words),
};
