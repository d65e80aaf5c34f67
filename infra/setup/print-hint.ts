import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { installAllHint } from '../../shared/catalogue/missing.ts';
import { findMissing } from '../local/engine-checks.ts';

// Prints how to install missing components on systems without apt-get.
const hint = installAllHint(engineCatalogues, await findMissing());
if (hint !== undefined) process.stdout.write(`Continuing without some programs. ${hint}\n`);
