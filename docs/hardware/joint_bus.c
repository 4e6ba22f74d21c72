/* The driver of a parallel joint on a microcontroller, single precision: two motors push rods, but the
 * bus speaks of joints. Upwards go joint positions, velocities and torques; downwards joint torques. */
#include "crank_leg.h"

static crank_leg_memory memory; /* one context, so one memory */
static float y[CRANK_LEG_NY], yd[CRANK_LEG_M];

/* At power-up, with the first readings of the encoders. */
int joint_bus_begin(const float *u)
{
    crank_leg_init(&memory);
    return crank_leg_locate(&memory, u);
}

/* Motors to joints: what the bus reads. On a refusal the old values stay and the status goes up. */
int joint_bus_measure(const float *u, const float *ud, const float *tau_u, float *joint_position,
                      float *joint_velocity, float *joint_torque)
{
    float q[CRANK_LEG_NQ], qd[CRANK_LEG_N], tau_y[CRANK_LEG_M];
    int status = crank_leg_encoders(&memory, u, ud, y, yd, q, qd);
    if (status == CRANK_LEG_OK) {
        status = crank_leg_independent_forces(&memory, y, tau_u, tau_y);
    }
    for (int k = 0; status == CRANK_LEG_OK && k < CRANK_LEG_M; k++) {
        joint_position[k] = y[k];
        joint_velocity[k] = yd[k];
        joint_torque[k] = tau_y[k];
    }
    return status;
}

/* Joints to motors: what the bus commands. Too much is scaled down as a whole: the direction of the
 * joint torque stays, and *share says how much of it is left. */
int joint_bus_command(const float *joint_torque, float *tau_u, float *share)
{
    const int status = crank_leg_actuator_forces(&memory, y, joint_torque, tau_u);
    *share = status == CRANK_LEG_OK ? 1.0f : 0.0f;
    for (int k = 0; status == CRANK_LEG_OK && k < CRANK_LEG_P; k++) {
        const float size = tau_u[k] < 0.0f ? -tau_u[k] : tau_u[k];
        if (size * *share > crank_leg_actuator_effort[k]) {
            *share = crank_leg_actuator_effort[k] / size;
        }
    }
    for (int k = 0; k < CRANK_LEG_P; k++) {
        tau_u[k] = status == CRANK_LEG_OK ? tau_u[k] * *share : 0.0f;
    }
    return status;
}
