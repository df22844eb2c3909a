# SPDX-License-Identifier: BSD-3-Clause
"""MACsec (IEEE 802.1AE): refused, for what OTG can ask for cannot be sent.

The model (1.6x) has only ``auto``: the SecTAG, the encryption and the check value (ICV) follow from
the MACsec configuration of the device that sends, and without one an implementation is to return an
error. wirerate has no such devices, and a SecTAG in front of octets that are not protected would be
a frame that every receiver drops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirerate.plan.fields import Header
    from wirerate.plan.reader import Reader


def decode(reader: Reader) -> Header:
    """Always raises PlanError: about a mistake in the object, else that it cannot be sent."""
    reader.one_of("choice", ("auto",), "auto")
    reader.done()
    reader.fail(
        None,
        "it is made of the MACsec keys of the sending device, and wirerate has no MACsec devices; "
        "for an unprotected SecTAG write its octets as a custom header behind ether_type 0x88e5",
    )
