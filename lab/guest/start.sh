# SPDX-License-Identifier: BSD-3-Clause
# First process in the guest's own root: run the job, write its exit code, switch off.
. /run/lab/settings.sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/home LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
cd "$project"
"$python" -m lab.guest.main "$job" /run/lab/checks.json >/run/lab/log 2>&1 </dev/null
echo $? >/run/lab/exit.new
mv /run/lab/exit.new /run/lab/exit
/run/busybox poweroff -f
