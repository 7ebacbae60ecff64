/** The dynamically imported module. Re-exports only, so that bundlers add no wrapper around the module. */
export { deferredMembers } from './members.js';
