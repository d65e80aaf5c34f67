import { readNumberSettings } from '../../shared/settings.ts';

/** The settings of this deployment, apart from the wiring so that functions which only read bring no more with them. */
export const settings = readNumberSettings(process.env);
