"""What the launch files look at before they start anything. Imports no launch.

A launch that fails half-way leaves the nodes that it has started to themselves, and much of what
is mistyped would only be a warning among many lines. So files and executables are looked for first,
and whatever is missing is refused with the argument that names it.
"""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from ..errors import ClosedLoopError, did_you_mean
from ..shipped import PACKAGE, share_folders

#: Chooses the transports of Fast DDS (2.12 and newer; of no meaning to other middleware).
VARIABLE = "FASTDDS_BUILTIN_TRANSPORTS"
#: Where these are set, somebody has made up his mind.
PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
#: How far discovery goes; LOCALHOST: this machine.
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
LOCAL_PROFILE = "fastdds_udp_localhost.xml"
TRANSPORTS = ("UDPv4", "UDPv6", "SHM", "LARGE_DATA", "DEFAULT", "DEFAULTv6")


class LaunchRefused(ClosedLoopError):
    """Something that a launch needs is not there; nothing has been started."""


def existing_file(argument: str, path: str) -> str:
    """The path of a file that an argument names.

    Raises:
        LaunchRefused: there is none; with the argument, and a file of a similar name.
    """
    file = Path(path).expanduser()
    if file.is_file():
        return str(file)
    if not file.parent.is_dir():
        raise LaunchRefused(f"{argument}:={path}: there is no folder '{file.parent}'")
    beside = [other.name for other in file.parent.iterdir() if other.suffix == file.suffix]
    raise LaunchRefused(
        f"{argument}:={path}: there is no such file in '{file.parent.resolve()}'; "
        + did_you_mean(file.name, beside)
    )


def parameters_file(path: str) -> str:
    """The path of a parameters file that rcl, and so every node, can read.

    Raises:
        LaunchRefused: there is none, or rcl cannot read it.
    """
    from rclpy.context import Context
    from rclpy.impl.implementation_singleton import rclpy_implementation as rcl

    file = existing_file("parameters_file", path)
    context = Context()
    try:
        context.init(["--ros-args", "--params-file", file])
    except rcl.RCLError as error:
        reason = str(error).partition("failed to initialize rcl: ")[2] or str(error)
        raise LaunchRefused(
            f"parameters_file:={path}: ROS cannot read it ({reason.split(', at ')[0]}); texts that "
            'YAML takes for something else, such as the joint "y", need quotes'
        ) from None
    finally:
        context.try_shutdown()
    return file


def spanning_tree(path: str) -> tuple[str, str]:
    """Text and root link (no joint's child) of a URDF.

    Raises:
        LaunchRefused: there is none, or it is none.
    """
    text = Path(existing_file("urdf_file", path)).read_text(encoding="utf-8")
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise LaunchRefused(f"urdf_file:={path}: not XML: {error}") from None
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    links = [link.get("name", "") for link in robot.iterfind("link")]
    roots = [name for name in links if name not in children]
    if robot.tag != "robot" or not roots:
        raise LaunchRefused(f"urdf_file:={path}: not a URDF: no <robot> with a root link in it")
    return text, roots[0]


def need_executable(package: str, executable: str, leave_out: str = "") -> None:
    """Make sure that a node can be started.

    Args:
        leave_out: the argument with which the launch does without it.

    Raises:
        LaunchRefused: the package or its executable is not installed.
    """
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    remedy = f"install it, or leave it out with {leave_out}"
    if package == PACKAGE:
        remedy = "install the package with colcon or pip (an editable install leaves them out)"
    try:
        folder = Path(get_package_prefix(package)) / "lib" / package
    except PackageNotFoundError:
        raise LaunchRefused(f"package '{package}' not found: {remedy}") from None
    if shutil.which(executable, path=str(folder)) is None:
        raise LaunchRefused(
            f"package '{package}' has no executable '{executable}' in '{folder}': {remedy}"
        )


def transport_environment(
    choice: str, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The variables with which nodes use a transport; an empty choice is that of the environment.

    Where discovery stays on this machine, rmw_fastrtps brings shared memory back, whatever the
    variable says; only a profile of transports keeps it away there.

    Raises:
        LaunchRefused: Fast DDS knows no such transport.
    """
    if not choice and any(environment.get(name) for name in (VARIABLE, *PROFILES)):
        ours = any(environment.get(name, "").endswith(LOCAL_PROFILE) for name in PROFILES)
        return {RANGE: "SYSTEM_DEFAULT"} if ours else {}
    chosen = choice or TRANSPORTS[0]
    if chosen not in TRANSPORTS:
        hint = did_you_mean(chosen, TRANSPORTS)
        raise LaunchRefused(f"transport:={choice}: Fast DDS has no such transport; {hint}")
    if chosen == TRANSPORTS[0] and environment.get(RANGE, "").upper() == "LOCALHOST":
        return _udp_on_this_machine()
    return {VARIABLE: chosen}


def _udp_on_this_machine() -> dict[str, str]:
    from rclpy.utilities import get_rmw_implementation_identifier

    found = [share / "config" / LOCAL_PROFILE for share in share_folders()]
    profile = next((file for file in found if file.is_file()), None)
    if profile is None or not get_rmw_implementation_identifier().startswith("rmw_fastrtps"):
        return {}  # no other middleware would keep to this machine by our profile
    # The profile itself keeps to this machine.
    return {**dict.fromkeys(PROFILES, str(profile)), RANGE: "SYSTEM_DEFAULT"}
