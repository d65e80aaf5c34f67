const { NODE_COMPILE_CACHE } = process.env;

/** The variable by which Node finds modules that it compiled before, for processes that inherit no other. */
export const compileCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
