"""Small robots in MJCF, written here: what MuJoCo's compiler has to make of them."""

from __future__ import annotations

import math


def robot(bodies: str, equalities: str = "", actuators: str = "", more: str = "") -> str:
    return (
        '<mujoco model="small"><compiler angle="radian"/>'
        '<default><joint axis="0 0 1"/><geom type="capsule" size="0.02" contype="0" '
        'conaffinity="0"/><default class="strong"><joint armature="0.01" damping="0.2"/></default>'
        f"</default>{more}<worldbody>{bodies}</worldbody><equality>{equalities}</equality>"
        f"<actuator>{actuators}</actuator></mujoco>"
    )


def bar(name: str, length: float, at: str, inside: str = "", joint: str = "") -> str:
    """A body along x with a weight beside it: no plane of symmetry."""
    joint = joint or f'<joint name="{name}_joint"/>'
    return (
        f'<body name="{name}" pos="{at}">{joint}<geom fromto="0 0 0 {length} 0 0"/>'
        f'<geom type="box" size="0.03 0.02 0.01" pos="0.1 0.05 0.02" euler="0.3 0.2 0.1"/>'
        f"{inside}</body>"
    )


#: Crank and rocker, a pin between them; the crank has a rotor, and shows at 0.2.
FOUR_BAR = robot(
    bar("crank", 0.2, "0 0 0", bar("rod", 0.5, "0.2 0 0"),
        '<joint name="crank_joint" class="strong" ref="0.2" range="-1 1"/>')
    + bar("rocker", 0.5, "0.4 -0.5 0", '<site name="tip" pos="0.3 0.5 0"/>',
          '<joint name="rocker_joint" frictionloss="0.0"/>'),
    '<connect name="pin" body1="rod" body2="rocker" anchor="0.5 0 0"/>',
    '<motor joint="crank_joint" gear="7"/>',
)  # fmt: skip
#: Two sites tied, a slider, a gear between two cranks, a joint away from its body's frame.
GEARED = robot(
    bar("left", 0.3, "0 0 0", bar("left_rod", 0.4, "0.3 0 0", '<site name="a" pos="0.4 0 0"/>'))
    + bar("right", 0.3, "0.6 0 0.1", "",
          '<joint name="right_joint" pos="0.1 0 0" ref="-0.3" axis="0 1 1" armature="0.02"/>')
    + bar("sled", 0.1, "0.7 0 0", '<site name="b" pos="0 0 0" quat="1 0 0.1 0"/>',
          '<joint name="sled_joint" type="slide" axis="1 0.3 0" damping="0.5" ref="0.05"/>'),
    '<connect site1="a" site2="b"/><joint joint1="right_joint" joint2="left_joint" '
    'polycoef="0.1 -2.5 0 0 0"/>',
    '<position joint="left_joint" kp="100"/>',
)  # fmt: skip
#: A flying body with two joints in one body, a ball inside a loop, and a weld that closes it.
FLYING = robot(
    '<body name="trunk" pos="0 0 1" quat="1 0.1 0 0"><freejoint name="flight"/>'
    '<geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03"/>'
    + bar("leg", 0.4, "0.2 0 0", "",
          '<joint name="hip" axis="0 1 0" pos="0 0 0.02"/><joint name="yaw" axis="0 0.2 1"/>')
    + bar("arm", 0.3, "-0.2 0 0",
          bar("fore", 0.3, "0.3 0 0", bar("hand", 0.05, "0.3 0 0"),
              '<joint name="ball" type="ball"/>'))
    + bar("lever", 0.4, "-0.2 0.2 0.1", bar("grip", 0.1, "0.4 0 0",
          bar("wrist", 0.05, "0.05 0 0", "", '<joint name="wrist_joint" axis="0 1 0"/>'),
          '<joint name="grip_joint" axis="1 0 0"/>'))
    + "</body>",
    '<weld body1="hand" body2="wrist"/>',
    '<motor joint="hip"/><motor joint="yaw"/><motor joint="arm_joint"/>',
)  # fmt: skip
#: Joints that follow each other along curves, a linear one among them, away from q = 0.
CURVED = robot(
    bar("first", 0.3, "0 0 0",
        bar("second", 0.2, "0.3 0 0",
            bar("third", 0.1, "0.2 0 0", "", '<joint name="third_joint" axis="0 1 1" ref="0.3"/>'),
            '<joint name="second_joint" armature="0.01" damping="0.1" axis="0 1 0"/>'),
        '<joint name="first_joint" ref="-0.2" range="-1.5 1.5"/>')
    + bar("sled", 0.1, "0 0.5 0", "", '<joint name="sled_joint" type="slide" axis="1 0.3 0"/>'),
    '<joint joint1="second_joint" joint2="first_joint" polycoef="0.1 -0.5 0.3 0.2 -0.1"/>'
    '<joint joint1="third_joint" joint2="second_joint" polycoef="0.2 0.7 -0.4 0 0"/>'
    '<joint joint1="sled_joint" joint2="third_joint" polycoef="0 0.2 0 0 0"/>',
    '<motor joint="first_joint"/>',
)  # fmt: skip


def _arm(side: str, at: str, site: str) -> str:
    """Three hinges, bent, and a site at the tip, another one beside it."""
    sites = f'<site name="{side}_tip" pos="0.2 0 0"/><site name="{side}_arm" pos="{site}"/>'
    axes = {"first": "0 0 1", "second": "0 1 0.2", "third": "0.3 1 0"}
    joints = {k: f'<joint name="{side}_{k}" axis="{axis}"/>' for k, axis in axes.items()}
    third = bar(f"{side}_c", 0.2, '0.3 0 0" euler="0 0.6 0', sites, joints["third"])
    second = bar(f"{side}_b", 0.3, '0.3 0 0" euler="0 0 0.7', third, joints["second"])
    return bar(f"{side}_a", 0.3, at, second, joints["first"])


_TIP = 0.3 + 0.2 * math.cos(0.6)  # of the last two bars, along the second
_APART = f"{0.6 + 2.0 * math.cos(0.7) * _TIP} {2.0 * math.sin(0.7) * _TIP} 0"
#: A universal joint as a connect and a tendon of two sites; fixed tendons, alone and tied.
TENDONS = robot(
    _arm("left", "0 0 0", "0.2 0.1 0") + _arm("right", f'{_APART}" quat="0 0 0 1', "0.2 0 0.1")
    + "".join(
        bar(f"rotor_{k}", 0.1, f"0 1 {k}", "", f'<joint name="rotor_{k}" ref="0.{k}"/>')
        for k in range(5)
    ),
    '<tendon tendon1="arms"/><connect site1="left_tip" site2="right_tip"/>'
    '<tendon tendon1="sum" polycoef="0.2 0 0 0 0"/>'
    '<tendon tendon1="pair" tendon2="single" polycoef="0.1 -2 0 0 0"/>',
    '<motor joint="left_second"/><motor joint="left_third"/>'
    + "".join(f'<motor joint="rotor_{k}"/>' for k in (1, 2, 4)),
    '<tendon><spatial name="arms"><site site="left_arm"/><site site="right_arm"/></spatial>'
    '<fixed name="sum"><joint joint="rotor_0" coef="0.5"/><joint joint="rotor_1" coef="2"/>'
    '<joint joint="rotor_2" coef="-1"/></fixed>'
    '<fixed name="pair"><joint joint="rotor_3" coef="2"/></fixed>'
    '<fixed name="single"><joint joint="rotor_4" coef="3"/><joint joint="rotor_1" coef="1"/>'
    "</fixed></tendon>",
)  # fmt: skip
ROBOTS = {
    **{"four bar": FOUR_BAR, "geared": GEARED, "flying": FLYING, "curved": CURVED},
    "tendons": TENDONS,
}
