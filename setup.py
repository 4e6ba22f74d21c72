"""Package metadata, read by pip and by colcon (ament_python) alike; tools are in pyproject.toml."""

from glob import glob

from setuptools import find_packages, setup

NAME = "closed_loop_dynamics"
SHARE = f"share/{NAME}"
DATA = ("launch", "config", "config/mechanisms", "urdf", "urdf/mechanisms")
NODES = ("feedforward", "simulator", "joint_state_completer", "trajectory_publisher")

# Real ROS 2 messages and rclpy as wheels, for machines without a ROS 2 installation.
ROS = [
    f"ros-jazzy-{package}"
    for package in (
        "rclpy",
        "rmw-fastrtps-cpp",
        "diagnostic-msgs",
        "geometry-msgs",
        "lifecycle-msgs",
        "rosgraph-msgs",
        "sensor-msgs",
        "std-msgs",
        "std-srvs",
        "trajectory-msgs",
        "visualization-msgs",
    )
]
PLOT = ["matplotlib>=3.7"]
BAGS = ["rosbags>=0.11"]  # reads and writes MCAP without ROS
VIEWER = ["viser>=1.1", "trimesh>=4.6", "pycollada>=0.8"]  # reads Collada (.dae) for trimesh
DASK = ["distributed>=2024.1"]
MUJOCO = ["mujoco>=3.17"]  # reads MJCF
XACRO = ["xacro>=2.1"]  # expands .xacro files
CONTROL = ["ruckig>=0.12"]  # streams of references within limits of speed, acceleration and jerk
RETIME = ["toppra>=0.6"]  # the fastest motion along a path
TEST = [
    *PLOT,
    *BAGS,
    *VIEWER,
    *CONTROL,
    *DASK,
    *MUJOCO,
    *XACRO,
    *RETIME,
    "hypothesis>=6.100",
    "jsonschema>=4.17",
    "pandas>=2.0",  # tables of joints go in and out
    "pin>=4.0",
    "pytest>=7.4",  # which Jazzy has; its launch_pytest fails with 8.4
    "pytest-xdist>=3.5",
    "selenium>=4.20",  # drives Chromium in the tests of the viewer
    "setuptools>=64",  # the packaging test builds a wheel without fetching a build environment
    "urdfdom-py>=1.2.1.post1",  # urdf_parser_py, against which the URDF reader is tested
    "wheel>=0.40",
]

setup(
    name=NAME,
    version="0.1.0",
    description="Kinematics and dynamics of robots with closed kinematic loops, for ROS 2",
    maintainer="closed_loop_dynamics developers",
    maintainer_email="maintainers@closed-loop-dynamics.invalid",
    license="BSD-3-Clause",
    keywords=["ROS", "robot dynamics", "closed kinematic loops", "parallel mechanisms"],
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"], f"{NAME}.c_export": ["templates/*"]},
    zip_safe=False,
    install_requires=[
        "casadi>=3.6.5",
        "llvmlite>=0.45",
        "numpy>=1.26",
        "PyYAML>=6.0",
        "scipy>=1.10",
    ],
    extras_require={
        "bags": BAGS,
        "control": CONTROL,
        "dask": DASK,
        "mujoco": MUJOCO,
        "plot": PLOT,
        "retime": RETIME,
        "ros": ROS,
        "test": TEST,
        "viewer": VIEWER,
        "xacro": XACRO,
    },
    # setuptools leaves these out of an editable install: to be found as an ament package (through
    # AMENT_PREFIX_PATH) the package has to be installed for real.
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (SHARE, ["package.xml"]),
        (f"lib/{NAME}", [f"scripts/{command}" for command in ("closed-loop", *NODES)]),
        *((f"{SHARE}/{folder}", glob(f"{folder}/*.*")) for folder in DATA),
    ],
    # Where console scripts land: colcon puts them into lib/closed_loop_dynamics/ (setup.cfg), which
    # is the only place `ros2 run` and `ros2 launch` look; pip ignores that setting and puts them
    # into bin/. For `ros2 run` after a plain pip install the nodes therefore also have a small
    # executable in lib/closed_loop_dynamics/, through data_files, that calls the one in bin/.
    entry_points={
        "console_scripts": [
            "closed-loop = closed_loop_dynamics.cli.command_line:main",
            *(f"{node} = {NAME}.ros.start:{node}" for node in NODES),
        ]
    },
)
