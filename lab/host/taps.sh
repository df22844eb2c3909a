# SPDX-License-Identifier: BSD-3-Clause
# taps.sh TAP:WIRE… -- COMMAND…: make TAPs of many queues, those of one wire on one bridge, and become the command.
#
# Run in a network namespace of its own, which goes away with the command. The bridges forget every address at once,
# and so are hubs; addresses of IPv6, which would bring frames of their own, are not made.
set -e
while [ "$1" != -- ]; do
	tap=${1%:*}
	bridge=wr-wire${1##*:}
	ip link show "$bridge" >/dev/null 2>&1 ||
		ip link add "$bridge" type bridge ageing_time 0 mcast_snooping 0 stp_state 0
	ip tuntap add dev "$tap" mode tap multi_queue
	for name in "$bridge" "$tap"; do
		ip link set "$name" addrgenmode none
		ip link set "$name" up
	done
	ip link set "$tap" master "$bridge"
	shift
done
shift
exec "$@"
