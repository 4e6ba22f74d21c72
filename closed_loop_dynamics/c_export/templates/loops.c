/* ---- loops that are closed by Newton's method ---------------------------------------------- */

/* All that is known about one loop before the first call. A solution is stored as its parameters
 * p (n_p), its unknowns x (n_x) and dx/dp (n_x times n_p, row by row). */
struct loop {
    int n_p, n_sign, n_x;
    const int *parameters;   /* (n_p) places of p in the input vector */
    const real *size;        /* (n_p) natural sizes of the parameters */
    const real *sign;        /* (n_sign) signs of the guards on the branch of the reference */
    const real *reach;       /* (n_x) 1 / longest prediction that is believed */
    const real *low, *step;  /* (n_p) each: the table's grid */
    const int *last, *stride; /* (n_p) each: last index, distance of neighbours in nodes */
    const real *nodes;       /* x and dx/dp of every node; NAN where the loop does not close, then how
                              * many steps away a node is where it does, or NAN; or 0 */
    const real *reference;   /* the solution that a new memory begins with */
    int history;             /* where its newest two solutions are in the memory */
    int submechanism;        /* its place among the names */
    /* (p, sign, x) -> dx (n_x), its scaled length, guards (n_sign) that must stay positive */
    void (*newton)(const real *p, const real *sign, const real *x, real *out, real *work);
};

static int size_of_solution(const struct loop *loop)
{
    return loop->n_p + loop->n_x + loop->n_x * loop->n_p;
}

static void forget(robot_memory *memory, const struct loop *loop)
{
    real *const newest = memory->history + loop->history, *const older = newest + size_of_solution(loop);
    copy(loop->reference, newest, size_of_solution(loop));
    copy(loop->reference, older, size_of_solution(loop));
    for (int j = 0; j < loop->n_p; j++) {
        older[j] = NAN; /* there is none */
    }
}

/* Where the newest two solutions point to at p: the cubic of Hermite along the way d between them;
 * the change of the slope along d turns what is left of the way ahead. 0 unless p is close. */
static int ahead_of_history(const struct loop *loop, const real *newest, const real *p, real *ahead)
{
    const int n_p = loop->n_p, n_x = loop->n_x;
    const real *const older = newest + size_of_solution(loop);
    const real *const x0 = newest + n_p, *const slope0 = x0 + n_x;
    const real *const x1 = older + n_p, *const slope1 = x1 + n_x;
    real d[MOST_PARAMETERS] = {0.0}, way[MOST_PARAMETERS] = {0.0}, along = 0.0, squared = 0.0;
    for (int j = 0; j < n_p; j++) {
        way[j] = p[j] - newest[j];
        d[j] = newest[j] - older[j];
        if (isnan(d[j])) {
            d[j] = 0.0;
        }
        if (!(fabs(way[j]) / loop->step[j] <= CLOSE)) {
            return 0;
        }
        along += way[j] / loop->step[j] * (d[j] / loop->step[j]);
        squared += d[j] / loop->step[j] * (d[j] / loop->step[j]);
    }
    real a = along / squared;
    if (!(fabs(a) <= AHEAD)) { /* too far, or only one solution: straight on */
        a = 0.0;
    }
    const real square = a * a, cube = a * a * a;
    for (int i = 0; i < n_x; i++) {
        ahead[i] = (3.0 * square + 2.0 * cube) * (x1[i] - x0[i]);
        for (int j = 0; j < n_p; j++) {
            const real turned = a * (way[j] - a * d[j]);
            ahead[i] += slope0[i * n_p + j] * (way[j] + (2.0 * square + cube) * d[j] + turned);
            ahead[i] += slope1[i * n_p + j] * ((square + cube) * d[j] - turned);
        }
        ahead[i] += x0[i];
    }
    return 1;
}

/* A start for x at p: from the nearest node of the table; where that one was not reached from the
 * newest solution, or from a node beside it. History saves iterations where the table vouches for
 * it. Who follows a curve starts where it is, whatever the table says. 0: no start. */
static int predict(const struct loop *loop, const real *newest, const real *p, int follow, real *x)
{
    const int n_p = loop->n_p, n_x = loop->n_x;
    int near = 1, same = 1, covered = 1, node = 0;
    real p_start[MOST_PARAMETERS] = {0.0}, ahead[MOST_UNKNOWNS] = {0.0};
    const real *start = newest + n_p;
    for (int j = 0; j < n_p; j++) {
        const real exact = (p[j] - loop->low[j]) / loop->step[j];
        const int index = (int)(fmax(fmin(exact, (real)loop->last[j]), 0.0) + 0.5);
        near = near && fabs(p[j] - newest[j]) / loop->step[j] < 0.5;
        same = same && p[j] == newest[j];
        covered = covered && fabs(exact - (real)index) <= ONE_CELL;
        node += index * loop->stride[j];
        p_start[j] = (real)index * loop->step[j] + loop->low[j];
    }
    if (loop->nodes) {
        start = loop->nodes + node * (n_x + n_x * n_p);
        if (isnan(start[0])) {
            covered = 0;
            for (int j = 0; j < n_p && !isnan(start[n_x]); j++) {
                node += (int)start[n_x + j] * loop->stride[j];
                p_start[j] += start[n_x + j] * loop->step[j];
            }
            start = loop->nodes + node * (n_x + n_x * n_p);
        }
    }
    if (follow || !loop->nodes || same || (near && !covered)) {
        start = newest + n_p;
        copy(newest, p_start, n_p);
    }
    for (int i = 0; i < n_x; i++) {
        real change = 0.0;
        for (int j = 0; j < n_p; j++) {
            change += start[n_x + i * n_p + j] * (p[j] - p_start[j]);
        }
        if (!(fabs(change) * loop->reach[i] <= 1.0)) {
            return 0; /* near a singularity slopes are huge: a leap may end on another branch */
        }
        x[i] = start[i] + change;
    }
    if (loop->nodes && covered && !follow && ahead_of_history(loop, newest, p, ahead)) {
        for (int i = 0; i < n_x; i++) {
            if (!(fabs(ahead[i] - x[i]) * loop->reach[i] <= AGREEMENT)) {
                return 1;
            }
        }
        copy(ahead, x, n_x);
    }
    return 1;
}

/* Newton's method from x. An iterate is accepted while all guards are positive (they change sign
 * at a singularity and on another assembly mode) and the steps contract (Deuflhard 2011): then the
 * start belongs to the solution that it leads to. Whatever fails is reported, never used. */
static int iterate(robot_memory *memory, const struct loop *loop, const real *p, real *x)
{
    real out[MOST_STEP_OUTPUTS] = {0.0}, previous = LONGEST_FIRST_STEP / CONTRACTION;
    for (int round = 0; round < ROBOT_NEWTON_ITERATIONS; round++) {
        loop->newton(p, loop->sign, x, out, memory->work);
        memory->iterations++;
        const real length = out[loop->n_x];
        for (int k = 0; k < loop->n_sign; k++) {
            if (!(out[loop->n_x + 1 + k] > 0.0)) {
                return ROBOT_BRANCH;
            }
        }
        if (!(length <= NEWTON_TOLERANCE || length <= previous * CONTRACTION)) {
            return ROBOT_CLOSURE_NOT_FOUND;
        }
        for (int i = 0; i < loop->n_x; i++) {
            if (isnan(out[i])) {
                return ROBOT_CLOSURE_NOT_FOUND;
            }
            x[i] -= out[i];
        }
        if (length <= NEWTON_TOLERANCE) {
            return ROBOT_OK;
        }
        previous = length;
    }
    return ROBOT_CLOSURE_NOT_FOUND;
}

/* Unknowns x of `count` loops, one behind the other, whose parameters are elements of `values`. */
static int close_loops(robot_memory *memory, const struct loop *loops, int count, const real *values, int follow,
                       real *x)
{
    for (int k = 0; k < count; k++) {
        const struct loop *const loop = loops + k;
        real p[MOST_PARAMETERS] = {0.0};
        int status = ROBOT_CLOSURE_NOT_FOUND;
        for (int j = 0; j < loop->n_p; j++) {
            p[j] = values[loop->parameters[j]];
        }
        if (predict(loop, memory->history + loop->history, p, follow, x)) {
            status = iterate(memory, loop, p, x);
        }
        if (status != ROBOT_OK) {
            memory->where = loop->submechanism;
            return status;
        }
        x += loop->n_x;
    }
    return ROBOT_OK;
}

/* What has been found becomes the newest solution; at another place, that becomes the older one. */
static void remember(robot_memory *memory, const struct loop *loops, int count, const real *values, const real *x,
                     const real *slopes)
{
    for (int k = 0; k < count; k++) {
        const struct loop *const loop = loops + k;
        const int n_p = loop->n_p, n_x = loop->n_x, size = size_of_solution(loop);
        real *const newest = memory->history + loop->history;
        int stayed = 1;
        for (int j = 0; j < n_p; j++) {
            stayed = stayed && values[loop->parameters[j]] == newest[j];
        }
        if (!stayed) {
            copy(newest, newest + size, size);
        }
        for (int j = 0; j < n_p; j++) {
            newest[j] = values[loop->parameters[j]];
        }
        copy(x, newest + n_p, n_x);
        copy(slopes, newest + n_p + n_x, n_x * n_p);
        x += n_x;
        slopes += n_x * n_p;
    }
}
