// Resolves names under .localhost to the loopback interface, as RFC 6761 asks and browsers do. Resolvers of C libraries
// and so Node often do not, and ministack's APIs have such names.
import dns from 'node:dns';

const { lookup } = dns;

dns.lookup = (hostname, options, callback) =>
  lookup(hostname.endsWith('.localhost') ? 'localhost' : hostname, options, callback);
