const { NODE_COMPILE_CACHE } = process.env;

/** Node's compile cache variable, for processes that inherit no other. */
export const compileCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
