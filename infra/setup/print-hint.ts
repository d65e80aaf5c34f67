import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { installAllHint } from '../../shared/catalogue/missing.ts';
import { findMissing } from '../local/engine-checks.ts';

// Tells how to install missing components on systems where the setup installs nothing.
const hint = installAllHint(engineCatalogues, await findMissing());
if (hint !== undefined) process.stdout.write(`Continuing without some programs. ${hint}\n`);
