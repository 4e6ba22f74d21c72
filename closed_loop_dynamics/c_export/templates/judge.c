/* A value that must be positive, and what it means when it is not. */
struct check {
    int status, where;
};

static int judge(robot_memory *memory, const real *values, const struct check *checks, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(values[i] > 0.0)) { /* not a number is not positive either */
            memory->where = checks[i].where;
            return checks[i].status;
        }
    }
    return ROBOT_OK;
}
