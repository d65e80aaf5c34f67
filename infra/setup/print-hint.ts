import { engineCatalogues } from '../../functions/engines/runtime/catalogues.ts';
import { installAllHint } from '../../shared/catalogue/missing.ts';
import { findMissing } from '../local/engine-checks.ts';

// Says how to install what the engines lack, on systems where the set-up installs nothing by itself.
const hint = installAllHint(engineCatalogues, await findMissing());
if (hint !== undefined) process.stdout.write(`Going on without some programs. ${hint}\n`);
