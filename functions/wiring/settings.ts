import { readNumberSettings } from '../../shared/settings.ts';

/**
 * The settings of this deployment. A module of its own, so that functions that only read settings bundle nothing else.
 */
export const settings = readNumberSettings(process.env);
