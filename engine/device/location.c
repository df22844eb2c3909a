/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/location.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCHEMES \
	"a PCI address, ring:NAME, null:NAME, memif:SOCKET, vhost:SOCKET, virtio-user:SOCKET, tap:IFNAME, " \
	"af_packet:IFNAME, af_xdp:IFNAME, kni:NAME, pcap:IN,OUT or vdev:ARGS"
#define VHOST_NET "/dev/vhost-net" /* what virtio-user takes for the kernel itself */
#define INTERFACE_OCTETS_MAX 15u   /* IFNAMSIZ - 1 */
#define FRAMECNT_MAX 65536ul       /* of 2 KiB each, in both directions of every queue */

/* What follows the scheme, split at the first comma: "SOCKET,devargs". */
struct parts {
	char value[256];
	char extra[256]; /* ",devargs" or "" */
};

struct request {
	const struct parts *parts;
	unsigned int index;
	uint16_t queues;
};

typedef int (*form_fn)(struct location *, const struct request *);

static int
form(struct location *out, const char *driver, unsigned int index, const char *args,
     const char *extra)
{
	int n;

	snprintf(out->device, sizeof(out->device), "%s%u", driver, index);
	n = snprintf(out->args, sizeof(out->args), "%s%s", args, extra);
	return n < (int)sizeof(out->args) ? 0 : -ENAMETOOLONG;
}

static int
form_ring(struct location *out, const struct request *request)
{
	/* librte_net_ring prefixes net_ring_ itself; rte_ring names have 29 characters at most. */
	int n = snprintf(out->device, sizeof(out->device), "%s", request->parts->value);

	if (request->parts->extra[0] != '\0')
		return -E2BIG;
	return n <= 20 ? 0 : -ENAMETOOLONG;
}

static int
form_null(struct location *out, const struct request *request)
{
	/* It receives nothing: net_null's made-up frames would be measured as if they were traffic. */
	return form(out, "net_null", request->index, "copy=0,no-rx=1", request->parts->extra);
}

static int
form_memif(struct location *out, const struct request *request)
{
	const struct parts *parts = request->parts;
	char args[400], role[32] = "", name[sizeof(parts->value) + 1];
	bool abstract = strstr(parts->extra, "socket-abstract=yes") != NULL;

	/* Abstract sockets are listed as @name. */
	snprintf(name, sizeof(name), "%s%s", abstract ? "@" : "", parts->value);
	/* The first end makes the socket, the second connects to it, unless the user says which is which. */
	if (strstr(parts->extra, "role=") == NULL)
		snprintf(role, sizeof(role), ",role=%s",
			 location_socket_is_listening(name) ? "client" : "server");
	snprintf(args, sizeof(args), "socket=%s%s%s", parts->value,
		 strstr(parts->extra, "socket-abstract=") == NULL ? ",socket-abstract=no" : "",
		 role);
	return form(out, "net_memif", request->index, args, parts->extra);
}

static int
form_vhost(struct location *out, const struct request *request)
{
	char args[400];

	snprintf(args, sizeof(args), "iface=%s,queues=%u", request->parts->value, request->queues);
	return form(out, "net_vhost", request->index, args, request->parts->extra);
}

/* A name that the kernel takes for an interface, as its dev_valid_name() says. */
static bool
is_interface_name(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= INTERFACE_OCTETS_MAX &&
	       strcspn(name, "/: \t\n\v\f\r") == length && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* The name that the kernel is to give the other end of a virtio-user: its devarg `iface`. */
static int
take_interface(struct location *out, const char *extra)
{
	const char *at = strstr(extra, ",iface=");
	size_t length;

	if (at == NULL)
		return -ENODEV;
	at += strlen(",iface=");
	length = strcspn(at, ",");
	snprintf(out->interface, sizeof(out->interface), "%.*s", (int)length, at);
	return is_interface_name(out->interface) ? 0 : -EBADF;
}

static int
form_virtio_user(struct location *out, const struct request *request)
{
	char args[400];
	int code = strcmp(request->parts->value, VHOST_NET) == 0
			   ? take_interface(out, request->parts->extra)
			   : 0;

	if (code != 0)
		return code;
	snprintf(args, sizeof(args), "path=%s,queues=%u%s", request->parts->value, request->queues,
		 strstr(request->parts->extra, "queue_size=") == NULL ? ",queue_size=1024" : "");
	return form(out, "net_virtio_user", request->index, args, request->parts->extra);
}

static int
form_interface(struct location *out, const char *driver, const char *args,
	       const struct request *request)
{
	if (strlen(request->parts->value) >= sizeof(out->interface))
		return -ENAMETOOLONG;
	strcpy(out->interface, request->parts->value);
	return form(out, driver, request->index, args, request->parts->extra);
}

static int
form_tap(struct location *out, const struct request *request)
{
	char args[300];

	snprintf(args, sizeof(args), "iface=%s", request->parts->value);
	return form_interface(out, "net_tap", args, request);
}

/* Frames are two to a page, and the kernel takes whole pages: packet(7), PACKET_RX_RING. */
static bool
is_framecnt(const char *extra)
{
	static const char name[] = ",framecnt=";
	const char *number = extra + strlen(name);
	unsigned long frames;
	char *end;

	if (strncmp(extra, name, strlen(name)) != 0 || *number < '1' || *number > '9')
		return false;
	frames = strtoul(number, &end, 10);
	return *end == '\0' && frames <= FRAMECNT_MAX && frames % 2 == 0;
}

static int
form_af_packet(struct location *out, const struct request *request)
{
	const char *extra = request->parts->extra;
	char args[300];

	if (extra[0] != '\0' && !is_framecnt(extra))
		return -ERANGE;
	/* The driver's 512 frames are full after 5 ms at 100,000 frames/s: less than a time slice of the kernel. */
	snprintf(args, sizeof(args), "iface=%s,qpairs=%u%s", request->parts->value, request->queues,
		 extra[0] == '\0' ? ",framecnt=4096" : "");
	return form_interface(out, "net_af_packet", args, request);
}

static int
form_af_xdp(struct location *out, const struct request *request)
{
	char args[300];

	snprintf(args, sizeof(args), "iface=%s,start_queue=0,queue_count=%u", request->parts->value,
		 request->queues);
	return form_interface(out, "net_af_xdp", args, request);
}

/* net_kni calls its interface what follows net_ in the device's name, which begins with the driver's. */
static int
form_kni(struct location *out, const struct request *request)
{
	const char *name = request->parts->value;

	if (request->parts->extra[0] != '\0')
		return -E2BIG;
	if (!is_interface_name(name) || strncmp(name, "kni", 3) != 0)
		return -EPROTO;
	strcpy(out->interface, name);
	snprintf(out->device, sizeof(out->device), "net_%.15s", name);
	return 0;
}

static int
form_pcap(struct location *out, const struct request *request)
{
	const char *in = request->parts->value;
	const char *file = request->parts->extra[0] == ',' ? request->parts->extra + 1 : "";
	char args[540];

	strcpy(out->input, in);
	snprintf(args, sizeof(args), "%s%s%s%s%s", in[0] != '\0' ? "rx_pcap=" : "", in,
		 in[0] != '\0' && file[0] != '\0' ? "," : "", file[0] != '\0' ? "tx_pcap=" : "",
		 file);
	return in[0] == '\0' && file[0] == '\0' ? -EINVAL
						: form(out, "net_pcap", request->index, args, "");
}

static int
form_vdev(struct location *out, const struct request *request)
{
	int n = snprintf(out->device, sizeof(out->device), "%s", request->parts->value);

	snprintf(out->args, sizeof(out->args), "%s",
		 request->parts->extra[0] == ',' ? request->parts->extra + 1 : "");
	return n < (int)sizeof(out->device) ? 0 : -ENAMETOOLONG;
}

/* "0000:03:00.0" or "03:00.0", then the end or a comma; domain 0 when there is none. */
static bool
parse_pci(const char *text, char *device, size_t size)
{
	size_t length = strcspn(text, ",");
	unsigned int domain = 0, bus, slot, function;
	int n = 0;

	if (strspn(text, "0123456789abcdefABCDEF:.") != length)
		return false;
	if (sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &slot, &function, &n) != 4) {
		domain = 0;
		if (sscanf(text, "%2x:%2x.%1u%n", &bus, &slot, &function, &n) != 3)
			return false;
	}
	if (device != NULL)
		snprintf(device, size, "%04x:%02x:%02x.%u", domain & 0xffff, bus & 0xff,
			 slot & 0xff, function % 10);
	return (size_t)n == length;
}

static int
form_pci(struct location *out, const struct request *request)
{
	return parse_pci(request->parts->value, out->device, sizeof(out->device)) ? 0 : -EINVAL;
}

static const struct scheme {
	const char *name;
	enum location_kind kind;
	form_fn form;
} schemes[] = {
	{"ring", LOCATION_RING, form_ring},
	{"null", LOCATION_NULL, form_null},
	{"memif", LOCATION_MEMIF, form_memif},
	{"vhost", LOCATION_VHOST, form_vhost},
	{"virtio-user", LOCATION_VIRTIO_USER, form_virtio_user},
	{"tap", LOCATION_TAP, form_tap},
	{"af_packet", LOCATION_AF_PACKET, form_af_packet},
	{"af_xdp", LOCATION_AF_XDP, form_af_xdp},
	{"kni", LOCATION_KNI, form_kni},
	{"pcap", LOCATION_PCAP, form_pcap},
	{"vdev", LOCATION_VDEV, form_vdev},
};

static int
split(struct parts *parts, const char *text)
{
	const char *comma = strchr(text, ',');
	size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);

	if (length >= sizeof(parts->value) || strlen(text + length) >= sizeof(parts->extra))
		return -ENAMETOOLONG;
	memcpy(parts->value, text, length);
	parts->value[length] = '\0';
	strcpy(parts->extra, text + length);
	return 0;
}

static form_fn
find_form(struct location *out, const char *text, const char **rest)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t length = strlen(schemes[i].name);

		if (strncmp(text, schemes[i].name, length) == 0 && text[length] == ':') {
			*rest = text + length + 1;
			out->kind = schemes[i].kind;
			return schemes[i].form;
		}
	}
	*rest = text;
	out->kind = LOCATION_PCI;
	return parse_pci(text, NULL, 0) ? form_pci : NULL;
}

static const char *
reason(int code)
{
	switch (code) {
	case -ENAMETOOLONG:
		return "too long a name";
	case -E2BIG:
		return "arguments that it does not take stand";
	case -ENODEV:
		return "iface=NAME, the kernel's name of it, is missing";
	case -EBADF:
		return "an iface that is no interface name (1 to 15 octets without /, : and blanks) stands";
	case -EPROTO:
		return "no interface name of at most 15 octets that begins with kni, as net_kni's do, stands";
	case -ERANGE:
		return "something else than framecnt=N, an even number from 2 to 65,536, stands";
	default:
		return "a name is missing";
	}
}

int
location_parse(struct location *out, const char *text, unsigned int index, uint16_t queues,
	       struct error *err)
{
	const char *rest;
	struct parts parts;
	struct request request = {&parts, index, queues};
	form_fn form_of_scheme;
	int code;

	memset(out, 0, sizeof(*out));
	form_of_scheme = find_form(out, text, &rest);
	if (form_of_scheme == NULL)
		return error_set(err, -EINVAL, NULL, "location \"%.64s\": not " SCHEMES, text);
	code = split(&parts, rest);
	if (code == 0 && parts.value[0] == '\0' && out->kind != LOCATION_PCAP)
		code = -EINVAL;
	if (code == 0)
		code = form_of_scheme(out, &request);
	if (code != 0)
		return error_set(err, -EINVAL, NULL, "location \"%.100s\": %s after \"%.*s\"", text,
				 reason(code), (int)(rest - text), text);
	return 0;
}

const char *
location_kernel_device(const struct location *location, const char **module)
{
	if (location->kind == LOCATION_KNI) {
		*module = "rte_kni";
		return "/dev/kni";
	}
	*module = "vhost_net";
	return location->kind == LOCATION_VIRTIO_USER && location->interface[0] != '\0' ? VHOST_NET
											: NULL;
}

bool
location_socket_is_listening(const char *path)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512];
	bool found = false;

	/* Num RefCount Protocol Flags Type St Inode Path; flag 00010000 (SO_ACCEPTCON) marks a listener. */
	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
		unsigned int flags;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) == 1 && at > 0)
			found = (flags & 0x10000) != 0 && strcmp(line + at, path) == 0;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

bool
location_has_line(const struct location *location)
{
	char path[128];

	if (location->kind == LOCATION_PCI)
		return true;
	if (location->kind != LOCATION_AF_PACKET && location->kind != LOCATION_AF_XDP)
		return false;
	/* Physical interfaces have a device behind them, veth and its like do not. */
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", location->interface);
	return access(path, F_OK) == 0;
}
