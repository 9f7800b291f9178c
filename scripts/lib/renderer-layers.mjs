/** Layers of renderer/, the React app. Pages share code through the layers below them, never through each other. @type {import('./folder-layers.mjs').Layers} */
export const rendererLayers = [
  ['api', 'base', 'styles'],
  ['stores'],
  ['components'],
  ['commands', 'environments', 'exports', 'notifications'],
  ['charts', 'dialogs', 'player', 'shell'],
  ['episodes', 'run-table', 'views'],
  ['wall'],
  ['pages'],
  ['index'],
];
