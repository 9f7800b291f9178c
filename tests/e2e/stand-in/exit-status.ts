/** Exit status of an app that requests a restart. */
export const restarts = 64;
