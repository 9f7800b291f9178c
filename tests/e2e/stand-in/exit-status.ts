/** Exit status of an app that requests a restart. */
export const restartStatus = 64;
