import { readNumberSettings } from '../../shared/settings.ts';

/** The settings of this deployment, apart from the wiring so that functions that only read them do not bundle the rest. */
export const settings = readNumberSettings(process.env);
