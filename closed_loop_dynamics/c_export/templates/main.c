/* Prints every function of robot.h at one state: the reference; all velocities are 0.1, all else is 1. */
#include "robot.h"

#include <stdio.h>

static void table(const char *title, const char *vector, int status, const real *values, int count)
{
    printf("%s %s: %s\n", title, vector, robot_status_text(status));
    for (int i = 0; status == ROBOT_OK && i < count; i++) {
        printf("  %3d % .15g\n", i, (double)values[i]);
    }
}

int main(void)
{
    static robot_memory memory; /* as large as sizeof says; here it need not lie on the stack */
    int status, failures = 0;
    robot_init(&memory);
    printf("@TITLE@, memory of %lu bytes\n", (unsigned long)sizeof memory);
@CALLS@
    return failures ? 1 : 0;
}
