/** Of an app that is to be started anew. */
export const restarts = 64;
