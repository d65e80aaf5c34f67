// Stands for node:http in bundles. Importing it as an ES module reads all its exports, of which the one for WebSockets
// loads Node's whole fetch: 45 ms of processor time for each start of a function, and megabytes of its memory.
module.exports = process.getBuiltinModule('node:http');
