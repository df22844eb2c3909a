/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/frame_filter.h"

#include <stdlib.h>

#include <pcap/pcap.h>

#define SNAPLEN 262144 /* what a matching program returns; tcpdump's "everything" */

struct frame_filter {
	struct bpf_program program;
};

int
frame_filter_create(struct frame_filter **out, const char *expression, struct error *err)
{
	struct frame_filter *filter;
	pcap_t *pcap;
	int code = 0;

	*out = NULL;
	if (expression[0] == '\0')
		return 0;
	filter = calloc(1, sizeof(*filter));
	pcap = pcap_open_dead(DLT_EN10MB, SNAPLEN);
	if (filter == NULL || pcap == NULL)
		code = error_set(err, -ENOMEM, NULL, "no memory left for a filter");
	else if (pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0)
		code = error_set(err, -EINVAL, NULL,
				 "\"%.80s\" is no filter: %s; see pcap-filter(7)", expression,
				 pcap_geterr(pcap));
	if (pcap != NULL)
		pcap_close(pcap);
	if (code == 0)
		*out = filter;
	else
		free(filter);
	return code;
}

bool
frame_filter_matches_head(const struct frame_filter *filter, const uint8_t *frame, uint32_t stored,
			  uint32_t octets)
{
	return filter == NULL || bpf_filter(filter->program.bf_insns, frame, octets, stored) != 0;
}

void
frame_filter_free(struct frame_filter *filter)
{
	if (filter == NULL)
		return;
	pcap_freecode(&filter->program);
	free(filter);
}
