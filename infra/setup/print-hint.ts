import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { installAllHint } from '../../shared/catalogue/missing.ts';
import { findMissing } from '../local/engine-checks.ts';

// Says how to install what the engines lack, on systems where the setup installs nothing itself.
const hint = installAllHint(engineCatalogues, await findMissing());
if (hint !== undefined) process.stdout.write(`Continuing without some programs. ${hint}\n`);
