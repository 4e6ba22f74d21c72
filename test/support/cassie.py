"""A robot that walks as Cassie does, modelled here: springs in shin and heel, rods close loops.

Lengths, masses and stiffnesses are rounded from what is published about the robot (Apgar et al.
2018; Reher, Cousineau, Hereid, Hubicki and Ames 2019); the geometry of the joints is drawn anew.
Per leg: five motors; nothing drives the springs of shin and heel. The achilles rod ties the thigh
to the heel spring, so the tarsus follows; the plantar rod turns the foot with its crank.
"""

from __future__ import annotations

#: Joint -> [N m/rad]; all of them, and only these, are not driven.
SPRINGS = {"shin": 1500.0, "heel": 1250.0}


def damping(joint: str) -> float:
    """Of every hinge [N m s/rad]: the foot is light, the whole leg hangs on the hip."""
    if joint.endswith(("toe", "plantar", "crank")):
        return 0.01
    return 4.0 if "hip" in joint else 1.0


def cassie(legs: tuple[str, ...] = ("left", "right"), *, floating: bool = True) -> str:
    """The MJCF; without ``floating`` something holds the pelvis."""
    free = '<freejoint name="flight"/>' if floating else ""
    motors = ("hip_roll", "hip_yaw", "hip_pitch", "knee", "crank")
    drives = "".join(f'<motor joint="{leg}_{name}"/>' for leg in legs for name in motors)
    ties = "".join(
        f'<connect site1="{leg}_{rod}_end" site2="{leg}_{rod}_seat"/>'
        for leg in legs
        for rod in ("achilles", "plantar")
    )
    return (
        '<mujoco model="cassie"><compiler angle="radian"/><default>'
        '<joint axis="0 1 0"/><geom type="capsule" size="0.02" contype="0" '
        'conaffinity="0"/></default><worldbody><body name="pelvis" pos="0 0 1">'
        f'{free}<geom type="box" size="0.08 0.12 0.1" pos="0.02 0 0.05" mass="10.3"/>'
        f"{''.join(_leg(leg) for leg in legs)}</body></worldbody>"
        f"<equality>{ties}</equality><actuator>{drives}</actuator></mujoco>"
    )


def _leg(side: str) -> str:
    y = 0.135 if side == "left" else -0.135

    def body(name: str, at: str, end: str, mass: float, inside: str = "", joint: str = "") -> str:
        stiffness = f'stiffness="{SPRINGS[name]}"' if name in SPRINGS else ""
        return (
            f'<body name="{side}_{name}_link" pos="{at}">'
            f'<joint name="{side}_{name}" {joint} {stiffness} damping="{damping(name)}"/>'
            f'<geom fromto="0 0 0 {end}" mass="{mass}"/>{inside}</body>'
        )

    def site(name: str, at: str) -> str:
        return f'<site name="{side}_{name}" pos="{at}"/>'

    foot = body("toe", "0.18 0 -0.36", "0.09 0 -0.02", 0.15, site("plantar_seat", "-0.05 0 0"))
    plantar = body(
        "plantar", "-0.05 0 0", "0.12 0 -0.27", 0.12, site("plantar_end", "0.12 0 -0.27")
    )
    crank = body("crank", "0.06 0 -0.09", "-0.05 0 0", 0.13, plantar)
    heel = body(
        "heel", "-0.01 0 -0.03", "-0.09 0 0.08", 0.13, site("achilles_seat", "-0.09 0 0.08")
    )
    tarsus = body("tarsus", "-0.28 0 -0.34", "0.18 0 -0.36", 0.78, heel + crank + foot)
    shin = body("shin", "0.03 0 -0.05", "-0.28 0 -0.34", 0.58, tarsus)
    knee = body("knee", "0.05 0 -0.11", "0.03 0 -0.05", 0.76, shin)
    tilt = f'<joint name="{side}_rod_tilt" axis="0 0 1" damping="{damping("rod_tilt")}"/>'
    end = site("achilles_end", "-0.3 0 -0.405")
    rod = body("rod", "0 0 -0.045", "-0.3 0 -0.405", 0.16, tilt + end)
    thigh = body("hip_pitch", "0 0 -0.07", "0.05 0 -0.11", 5.5, knee + rod)
    yaw = body("hip_yaw", "0.02 0 -0.02", "0 0 -0.07", 1.2, thigh, 'axis="0 0 1"')
    return body("hip_roll", f"0 {y} 0", "0.02 0 -0.02", 1.8, yaw, 'axis="1 0 0"')
