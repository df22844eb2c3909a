# SPDX-License-Identifier: BSD-3-Clause
# Read by the initramfs' init: the host's root becomes the guest's, read-only, with fresh folders where programs
# write. settings.sh says which folders of the host are still to be seen there (keep).
. /lab/settings.sh
mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 root /host || poweroff -f
number=0
while IFS= read -r path; do
	number=$((number + 1))
	mkdir -p /keep/$number
	mount --bind "/host$path" /keep/$number
done </lab/keep
for path in tmp run var/tmp; do
	mount -t tmpfs -o mode=1777 tmpfs /host/$path
done
number=0
while IFS= read -r path; do
	number=$((number + 1))
	mkdir -p "/host$path"
	mount --move /keep/$number "/host$path"
done </lab/keep
mkdir /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
mkdir /host/run/lab /host/run/home
cp /bin/busybox /host/run/busybox
for path in dev proc sys; do
	mount --move /$path /host/$path
done
mount --move /lab /host/run/lab
exec switch_root /host /run/busybox sh /run/lab/start.sh
