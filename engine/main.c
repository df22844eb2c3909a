/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wirerate-engine: EAL up, control loop, shutdown. The only file that may exit.
 *
 * The main thread never polls a device: it sleeps in epoll until a client, a signal, the 100 ms tick or the end of
 * standard input (a caller that died) wakes it. Interface: docs/design/0002-engine-interface.md.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "base/error.h"
#include "base/privileges.h"
#include "base/stage.h"
#include "base/tsc_clock.h"
#include "control/control_socket.h"
#include "control/session.h"
#include "device/memory_node.h"
#include "trace/trace_scan_json.h"

#define TICK_NS 100000000L

struct options {
	const char *run_dir;
	bool exit_on_stdin_eof;
	int memory_node; /* where EAL's own memory is wanted; -1: wherever the main lcore runs */
	const char *scan_path; /* only read this capture file, and exit */
	bool clock;            /* only print the TSC's frequency, and exit */
};

struct wakers {
	int epoll_fd;
	int signal_fd;
	int timer_fd;
};

static const char usage[] =
	"usage: wirerate-engine --run-dir DIR [--exit-on-stdin-eof] [--memory-node N] -- EAL-ARGUMENTS\n"
	"       wirerate-engine --scan-trace FILE\n"
	"       wirerate-engine --clock\n"
	"Started by wirerate; see docs/design/0002-engine-interface.md.\n";

/* Returns the index of "--" in argv, whose following words are EAL's (0 where none are to come); or exits. */
static int
parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {{"run-dir", required_argument, NULL, 'd'},
					      {"exit-on-stdin-eof", no_argument, NULL, 'e'},
					      {"memory-node", required_argument, NULL, 'm'},
					      {"scan-trace", required_argument, NULL, 's'},
					      {"die-at", required_argument, NULL, 'k'},
					      {"clock", no_argument, NULL, 'c'},
					      {"version", no_argument, NULL, 'V'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "+h", known, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->run_dir = optarg;
			break;
		case 'e':
			options->exit_on_stdin_eof = true;
			break;
		case 'm':
			options->memory_node = atoi(optarg);
			break;
		case 's':
			options->scan_path = optarg;
			break;
		case 'c':
			options->clock = true;
			break;
		case 'k':
			stage_die_at(optarg);
			break;
		case 'V':
			printf("wirerate-engine %s (%s linked)\n", WR_VERSION, WR_DPDK_LINK);
			exit(EXIT_SUCCESS);
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs(usage, stderr);
			exit(EXIT_FAILURE);
		}
	}
	if ((options->scan_path != NULL) + options->clock == 1 && options->run_dir == NULL &&
	    optind == argc)
		return 0;
	if (options->scan_path != NULL || options->clock || options->run_dir == NULL ||
	    optind == 1 || strcmp(argv[optind - 1], "--") != 0) {
		fputs(usage, stderr);
		exit(EXIT_FAILURE);
	}
	return optind - 1;
}

static int
watch(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return fd < 0 ? -1 : epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int
open_signal_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int
open_timer_fd(void)
{
	struct itimerspec tick = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &tick, NULL);
	return fd;
}

static int
open_wakers(struct wakers *wakers, int control_fd, bool watch_stdin, struct error *err)
{
	wakers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	wakers->timer_fd = open_timer_fd();
	if (watch(wakers->epoll_fd, wakers->signal_fd) != 0 ||
	    watch(wakers->epoll_fd, wakers->timer_fd) != 0 ||
	    watch(wakers->epoll_fd, control_fd) != 0 ||
	    (watch_stdin && watch(wakers->epoll_fd, STDIN_FILENO) != 0))
		return error_set(err, -errno, NULL, "control loop: %s", strerror(errno));
	return 0;
}

/* True at the end of standard input; what is written there is ignored. */
static bool
stdin_ended(void)
{
	char ignored[256];
	ssize_t n = read(STDIN_FILENO, ignored, sizeof(ignored));

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* SIGUSR1 ends the traffic, not the engine. Returns whether a signal asked for the engine's end. */
static bool
take_signals(struct session *session, int signal_fd)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			session_end_traffic(session);
		else
			end = true;
	}
	return end;
}

static void
serve(struct session *session, struct control *control, const struct wakers *wakers)
{
	while (!session->shutdown) {
		struct epoll_event event;
		uint64_t ticks;

		if (epoll_wait(wakers->epoll_fd, &event, 1, -1) != 1)
			continue;
		if (event.data.fd == wakers->signal_fd && take_signals(session, wakers->signal_fd))
			return;
		if (event.data.fd == STDIN_FILENO && stdin_ended())
			return;
		if (event.data.fd == wakers->timer_fd &&
		    read(wakers->timer_fd, &ticks, sizeof(ticks)) > 0)
			session_tick(session);
		if (event.data.fd == control_epoll_fd(control))
			control_poll(control);
	}
}

static int
run(const struct options *options, const struct tsc_clock *clock, int signal_fd, struct error *err)
{
	struct session session = {.run_dir = options->run_dir, .clock = *clock};
	struct wakers wakers = {.signal_fd = signal_fd};
	struct control *control = NULL;
	char path[256];
	int code;

	snprintf(path, sizeof(path), "%s/control.sock", options->run_dir);
	code = control_open(&control, path, session_dispatch, &session, err);
	if (code == 0)
		code = open_wakers(&wakers, control_epoll_fd(control), options->exit_on_stdin_eof,
				   err);
	if (code == 0)
		serve(&session, control, &wakers);
	session_close(&session);
	control_close(control);
	return code;
}

static int
scan(const char *path)
{
	struct error err = {0, "", ""};

	if (trace_scan_print(path, stdout, &err) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "wirerate-engine: %s\n", err.text);
	return EXIT_FAILURE;
}

/*
 * The TSC's frequency as DPDK has it. Test hook: WIRERATE_TEST_TSC_PPM makes it wrong by as much, which nothing but the
 * doctor's line may show (docs/design/0005-measurement.md, "Clocks").
 */
static uint64_t
dpdk_tsc_hz(void)
{
	const char *ppm = getenv("WIRERATE_TEST_TSC_PPM");
	double hz = (double)rte_get_tsc_hz();

	return (uint64_t)(ppm == NULL ? hz : hz * (1 + atof(ppm) / 1e6));
}

/* EAL is up: what DPDK believes, and what is true. The first reading was taken before. */
static void
settle_clock(struct tsc_clock *clock)
{
	clock->dpdk_hz = dpdk_tsc_hz();
	tsc_clock_settle(clock);
}

/* For the doctor: one lcore on this CPU, no device, no privilege, and no folder left behind. */
static int
print_clock(const char *program, struct tsc_clock *clock)
{
	char line[512], dir[256], *args[16], *rest = line;
	int count = 0;

	snprintf(line, sizeof(line),
		 "%s\n--no-huge\n--no-pci\n--no-shconf\n--no-telemetry\n-m\n16\n--log-level=error\n"
		 "--file-prefix=wirerate-clock-%d\n--lcores=0@%d",
		 basename(program), (int)getpid(), sched_getcpu());
	while (rest != NULL)
		args[count++] = strsep(&rest, "\n");
	if (rte_eal_init(count, args) < 0) {
		fprintf(stderr, "wirerate-engine: EAL did not start: %s\n",
			rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	settle_clock(clock);
	printf("{\"tsc_hz\": %" PRIu64 ", \"bound_ppm\": %.3f, \"dpdk_tsc_hz\": %" PRIu64 "}\n",
	       tsc_clock_hz(clock), RTE_MIN(clock->bound_ppm, 1e6), clock->dpdk_hz);
	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(dir);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct clock_reading started = clock_read();
	struct options options = {.memory_node = -1};
	struct error err = {0, "", ""};
	struct tsc_clock clock;
	int dashes = parse_options(&options, argc, argv);
	int signal_fd, code;

	privileges_no_new();
	if (options.scan_path != NULL)
		return scan(options.scan_path);
	tsc_clock_start(&clock, &started);
	if (options.clock)
		return print_clock(argv[0], &clock);
	/* Before EAL makes threads: they inherit the mask, so that signals reach the control loop only. */
	signal_fd = open_signal_fd();
	argv[dashes] = argv[0];
	/* vfio pins ordinary pages, and thereby settles where they are, as soon as EAL finds a device. */
	memory_node_prefer(options.memory_node);
	if (rte_eal_init(argc - dashes, argv + dashes) < 0) {
		fprintf(stderr, "wirerate-engine: EAL did not start: %s; see the lines above\n",
			rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	memory_node_prefer(-1);
	settle_clock(&clock);
	code = run(&options, &clock, signal_fd, &err);
	if (code != 0)
		fprintf(stderr, "wirerate-engine: %s\n", err.text);
	rte_eal_cleanup();
	stage_reached("cleaned up", "");
	return code == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
