// Before all modules that create schemas.
import './base/zod.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { confirmingCommands } from '../core/contract/confirm-command.ts';
import { connect } from './api/connection.ts';
import { ApiContext } from './api/context.ts';
import { chooseTransport } from './api/transport.ts';
import { App } from './app.tsx';
import { startTheme } from './base/theme.ts';
import { askInDialog } from './stores/consent-store.ts';
import 'uplot/dist/uPlot.min.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/start.css';
import './styles/run.css';
import './styles/memory.css';
import './styles/evaluations.css';
import './styles/marks.css';
import './styles/player.css';
import './styles/conversation.css';
import './styles/replay.css';

startTheme();
const api = confirmingCommands(connect(chooseTransport()), askInDialog);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <ApiContext value={api}>
      <App />
    </ApiContext>
  </StrictMode>,
);
