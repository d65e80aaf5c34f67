import { render } from 'preact';
import { App } from './app.tsx';
import { followLinks } from './router.ts';
import { startSession } from './service/session.ts';

followLinks();
void startSession();
const place = document.getElementById('app');
if (place) render(<App />, place);
