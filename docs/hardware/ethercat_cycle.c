/* A torque controller as an EtherCAT master runs it, once per millisecond: encoders in, torques out.
 * The bus itself (SOEM, IgH) is the caller's; nothing here waits, allocates or prints. */
#include "crank_leg.h"

#include <string.h>

struct leg {
    crank_leg_memory memory;
    double y[CRANK_LEG_NY], yd[CRANK_LEG_M]; /* where the robot is, newest good reading */
    int located;                             /* the loops have been followed to the first reading */
    int refused;                             /* cycles in a row without an answer */
};

void leg_begin(struct leg *leg)
{
    memset(leg, 0, sizeof *leg);
    crank_leg_init(&leg->memory);
}

/* u, ud: what the drives read. y_d, yd_d, ydd_d: the motion that is wanted. tau_u: for the drives.
 * Returns a status of crank_leg.h; on a refusal the torques only brake. */
int leg_cycle(struct leg *leg, const double *u, const double *ud, const double *y_d, const double *yd_d,
              const double *ydd_d, double *tau_u)
{
    double q[CRANK_LEG_NQ], qd[CRANK_LEG_N], ydd[CRANK_LEG_M];
    int status = CRANK_LEG_OK;
    if (!leg->located) { /* many steps, once, before the brakes open */
        status = crank_leg_locate(&leg->memory, u);
        leg->located = status == CRANK_LEG_OK;
    }
    if (status == CRANK_LEG_OK) {
        status = crank_leg_encoders(&leg->memory, u, ud, leg->y, leg->yd, q, qd);
    }
    for (int k = 0; k < CRANK_LEG_M; k++) { /* computed torque: 25 rad/s, critically damped */
        ydd[k] = ydd_d[k] + 50.0 * (yd_d[k] - leg->yd[k]) + 625.0 * (y_d[k] - leg->y[k]);
    }
    if (status == CRANK_LEG_OK) {
        status = crank_leg_inverse_dynamics(&leg->memory, leg->y, leg->yd, ydd, tau_u);
    }
    leg->refused = status == CRANK_LEG_OK ? 0 : leg->refused + 1;
    for (int k = 0; k < CRANK_LEG_P; k++) {
        const double most = crank_leg_actuator_effort[k];
        if (status != CRANK_LEG_OK) {
            tau_u[k] = -2.0 * ud[k];
        }
        tau_u[k] = tau_u[k] > most ? most : tau_u[k] < -most ? -most : tau_u[k];
    }
    return status;
}
