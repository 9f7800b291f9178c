import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { chatSystem } from './prompt.ts';

/** An environment that is a program of the user (docs/formats/process-environment.md). */
export const processEnvironment: Environment = {
  type: 'process',
  words: {
    title: 'Own program',
    note: 'Command and time limits',
    fields: [
      {
        path: 'command',
        title: 'Command',
        help: 'Shell command that starts the program. You must confirm it before it can run.',
      },
      { path: 'directory', title: 'Folder', help: 'Folder in which the command runs. An absolute path.' },
      { path: 'processes', title: 'Processes', help: 'Maximum number of processes that play episodes at once.' },
      {
        path: 'episodes_per_process',
        title: 'Episodes per process',
        help: 'Maximum number of episodes that one process plays at once. The program may support fewer.',
      },
      {
        path: 'start_seconds',
        title: 'Startup timeout',
        unit: 's',
        help: 'Timeout for a process to start and become ready.',
      },
      {
        path: 'answer_seconds',
        title: 'Step timeout',
        unit: 's',
        help: 'Timeout per reset and step. An episode that exceeds it is played again once; if that fails too, it is void.',
      },
    ],
  },
  describe: ({ command }) => [`"${command}"`],
  actions: () => null,
  preset: {
    label: 'program',
    type: 'process',
    config: {
      command: '',
      directory: '',
      processes: 4,
      episodes_per_process: 64,
      start_seconds: 60,
      answer_seconds: 30,
    },
    files_sha256: '',
    share: 1,
    validate: true,
    noise: 'shared',
    max_state_tokens: 0,
    max_turns: 5,
    max_actions_per_turn: 1,
    max_actions: 5,
    prompt: { system: '', first: '{state}', next: '{state}' },
  },
  chatPrompt: {
    system: chatSystem,
    first:
      '{state}\n\nThink in at most 100 words, then give one action, and write nothing else:\n<think>your thoughts</think><answer>your action</answer>',
    next: "That turn's reward: {reward}\n\n{state}",
  },
  frames: actionFrames,
};
