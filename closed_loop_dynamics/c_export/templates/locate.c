
/* The newest solutions lie on the curves through the older ones: the change of x is the integral of
 * its slope, by the trapezoidal rule. Across a gap that would have to hold by accident. */
static int continues(const robot_memory *memory)
{
    for (int k = 0; k < N_ENCODER_LOOPS; k++) {
        const struct loop *const loop = loops_of_u + k;
        const int n_p = loop->n_p, n_x = loop->n_x;
        const real *const newest = memory->history + loop->history;
        const real *const older = newest + size_of_solution(loop);
        for (int i = 0; i < n_x; i++) {
            real first = 0.0, last = 0.0;
            for (int j = 0; j < n_p; j++) {
                first += older[n_p + n_x + i * n_p + j] * (newest[j] - older[j]);
                last += newest[n_p + n_x + i * n_p + j] * (newest[j] - older[j]);
            }
            const real bend = fabs(last - first) * loop->reach[i];
            const real off = fabs(newest[n_p + i] - older[n_p + i] - 0.5 * (first + last)) * loop->reach[i];
            if (!(bend <= LARGEST_BEND && off <= 0.2 * bend + CURVE_TOLERANCE)) {
                return 0;
            }
        }
    }
    return 1;
}

/* One certified step to u. What does not continue the curves is taken back. */
static int step_along(robot_memory *memory, const real *u, real *y)
{
    for (int k = 0; k < N_ENCODER_LOOPS; k++) { /* older is from now on where the step begins */
        real *const newest = memory->history + loops_of_u[k].history;
        copy(newest, newest + size_of_solution(loops_of_u + k), size_of_solution(loops_of_u + k));
    }
    const int status = encoder_start(memory, 1, u, y);
    if (status != ROBOT_OK || continues(memory)) {
        return status;
    }
    for (int k = 0; k < N_ENCODER_LOOPS; k++) {
        real *const newest = memory->history + loops_of_u[k].history;
        copy(newest + size_of_solution(loops_of_u + k), newest, size_of_solution(loops_of_u + k));
    }
    memory->where = loops_of_u[0].submechanism;
    return ROBOT_BRANCH;
}

/* Straight from the newest solutions to u, in steps that are halved when one is refused. */
int robot_locate(robot_memory *memory, const real *u)
{
    real from[@P1@], at[@P1@], y[@NY1@], longest = 1.0, step, done = 0.0;
    int iterations = 0, status = look_over(memory, u, ROBOT_P, 0);
    if (status != ROBOT_OK) {
        return status;
    }
    copy(u, from, ROBOT_P);
    for (int k = 0; k < N_ENCODER_LOOPS; k++) {
        const struct loop *const loop = loops_of_u + k;
        for (int j = 0; j < loop->n_p; j++) {
            const int place = loop->parameters[j];
            from[place] = memory->history[loop->history + j];
            longest = fmin(longest, LONGEST_STEP * loop->size[j] / fabs(u[place] - from[place]));
        }
    }
    step = longest;
    for (int round = 0; round < LOCATE_STEPS && done < 1.0; round++) {
        const real ahead = fmin(1.0, done + step);
        for (int i = 0; i < ROBOT_P; i++) {
            at[i] = ahead < 1.0 ? from[i] + ahead * (u[i] - from[i]) : u[i];
        }
        status = step_along(memory, at, y);
        iterations += memory->iterations;
        if (status == ROBOT_OK) {
            done = ahead;
            step = fmin(2.0 * step, longest);
        } else {
            step = 0.5 * fmin(step, 1.0 - done);
        }
    }
    memory->iterations = iterations;
    return status == ROBOT_OK && done < 1.0 ? ROBOT_CLOSURE_NOT_FOUND : status;
}
