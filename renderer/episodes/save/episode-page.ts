import type { EpisodeSummary, Replay, ReplayTurn } from '../../../core/contract/contract.ts';
import { escaped } from '../../../core/contract/markup.ts';
import { count } from '../../../core/contract/numbers.ts';
import { resultWord } from '../../components/episode-result.tsx';
import { signed } from '../../components/format.ts';
import { describeFrame } from '../../environments/describe.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { playerHash, playerMarkup, playerScript } from './page-player.ts';

const style = `:root{color-scheme:light dark}body{max-width:860px;margin:32px auto;padding:0 16px;font:16px/1.5 system-ui,sans-serif}
h1{font-size:28px;margin:0}h2{font-size:16px;margin:0 0 8px}section{margin:24px 0;padding:16px;border:1px solid #8886;border-radius:10px}
pre{margin:4px 0 12px;padding:8px 10px;border-radius:6px;background:#8882;font:14px/1.35 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{opacity:.75}dd{margin:0}
.boards{display:flex;flex-wrap:wrap;gap:12px;margin:0;padding:0;list-style:none}.boards li{width:176px;font-size:14px}.boards img{display:block;max-width:100%}
.player{margin:24px 0}.player img{display:block;width:320px;max-width:100%}.player figcaption{min-height:48px;max-width:320px}
.player div{display:flex;gap:12px;max-width:320px}.player button{width:80px;padding:4px;font:inherit}.player input{flex:1;min-width:0}
.label{font-size:14px;opacity:.75;margin:0}`;

/** Forbids external resources and every script but the player. */
const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '${playerHash}'`;

/** Returns the label of an episode: `iteration 6, group 1, episode 3`, or for an evaluation `iteration 6, level 12`. */
export const describeEpisode = ({ iteration, split, group, member }: EpisodeSummary) =>
  `iteration ${iteration}, ${split === 'train' ? `group ${group + 1}, episode ${member + 1}` : `level ${group + 1}`}`;

interface PageContent {
  replay: Replay;
  run: string;
  /** One image per frame; empty if they can't be drawn. */
  pictures: readonly string[];
}

/** Returns an episode as a self-contained HTML page, with a player if there are pictures. */
export function episodePage({ replay, run, pictures }: PageContent): string {
  const { summary, turns, prompt } = replay;
  const text = describeEpisode(summary);
  const plays = replay.frames.length > 1 && pictures.length === replay.frames.length;
  const title = `${run}, ${text}`;
  const facts: [string, string][] = [
    ['Environment', environmentTitle(summary.environment)],
    ['Source', summary.split === 'train' ? 'training' : 'evaluation'],
    ['Level seed', String(summary.seed)],
    [
      'Result',
      summary.void ? `void: ${summary.void.reason}` : `${resultWord(summary)}, score ${signed(summary.reward)}`,
    ],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(run)}</h1>
<p>${escaped(text.charAt(0).toUpperCase() + text.slice(1))}</p>
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>
${plays ? playerMarkup : ''}
<section>
<h2>Start</h2>
${boards(replay, pictures, (turn, at) => turn === 0 && at === 0)}
<details><summary>Prompt</summary><pre>${escaped(prompt)}</pre></details>
</section>
${turns.map((turn, index) => turnSection(turn, index, replay, pictures)).join('\n')}
<p class="label">Saved by StarPO Studio.</p>
${plays ? `<script>${playerScript}</script>` : ''}
</body>
</html>
`;
}

function turnSection(turn: ReplayTurn, index: number, replay: Replay, pictures: readonly string[]): string {
  const { state, omittedTokens, beginsContext, think, answer, response, formatValid, reward, penalty, terms, claims } =
    turn;
  const block = (name: string, text: string | null) =>
    text === null || text.trim() === '' ? '' : `<p class="label">${name}</p><pre>${escaped(text.trim())}</pre>`;
  const penaltyText = penalty === 0 ? '' : `, penalty ${signed(penalty)}`;
  const termsText = terms.map(({ title, value }) => `, ${escaped(title.toLowerCase())} ${signed(value)}`).join('');
  const wrong = (claims?.false ?? []).map(({ start, end, fact }) => `“${(think ?? '').slice(start, end)}”: ${fact}`);
  const falseClaims = block('False claims', wrong.join('\n') || null);
  return `<section>
<h2>Turn ${index + 1}${beginsContext ? ', new context' : ''}: reward ${signed(reward)}${penaltyText}${termsText}</h2>
${block(omittedTokens > 0 ? `State (the model did not read ${count(omittedTokens, 'token')} in the middle)` : 'State', state.replace(/^\n+/, ''))}${block('Reasoning', think)}${falseClaims}${block('Answer', answer)}${formatValid ? '' : block('Raw response (invalid format)', response)}
${boards(replay, pictures, (of, at) => of === index && at > 0)}
</section>`;
}

/** Renders the selected frames with captions. */
function boards(
  replay: Replay,
  pictures: readonly string[],
  isSelected: (turn: number, at: number) => boolean,
): string {
  const items = replay.frames.flatMap(({ turn }, at) => {
    if (!isSelected(turn, at)) return [];
    const caption = escaped(describeFrame(replay, at));
    const picture = pictures[at];
    return [`<li>${picture ? `<img alt="" src="${escaped(picture)}">` : ''}${caption}</li>`];
  });
  return items.length === 0 ? '' : `<ul class="boards">${items.join('')}</ul>`;
}
