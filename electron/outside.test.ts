import { expect, test, vi } from 'vitest';
import { outside, outsideLinks } from './outside.ts';

test.each([
  ['https://huggingface.co/Qwen', 'open'],
  ['https://www.apache.org/licenses/LICENSE-2.0', 'confirm'],
  ['https://huggingface.co.example.org/', 'confirm'],
  ['https://huggingface.co:8443/', 'confirm'],
  ['https://huggingface.co@example.org/', 'never'],
  ['https://huggingface.co:secret@huggingface.co/', 'never'],
  [`https://example.org/${'x'.repeat(3000)}`, 'never'],
  ['http://huggingface.co/Qwen', 'never'],
  ['file:///usr/bin/true', 'never'],
  ['javascript:alert(1)', 'never'],
  ['not an address', 'never'],
])('%s opens in the browser: %s', (address, way) => expect(outside(address)).toBe(way));

const parts = (response: number) => ({ ask: vi.fn(async () => ({ response })), open: vi.fn() });

test('known hosts open immediately; forbidden addresses neither ask nor open', async () => {
  const desk = parts(0);
  const open = outsideLinks(desk);
  await open('https://arxiv.org/abs/2504.20073');
  await open('http://example.org/');
  expect(desk.open.mock.calls).toEqual([['https://arxiv.org/abs/2504.20073']]);
  expect(desk.ask).not.toHaveBeenCalled();
});

test.each([
  [0, 1],
  [1, 0],
])('any other address is shown whole first: answer %d opens it %d times', async (response, opened) => {
  const desk = parts(response);
  await outsideLinks(desk)('https://bücher.example/license?a=b');
  const address = 'https://xn--bcher-kva.example/license?a=b';
  expect(desk.ask).toHaveBeenCalledWith(expect.objectContaining({ detail: address, cancelId: 1 }));
  expect(desk.open.mock.calls).toEqual(Array.from({ length: opened }, () => [address]));
});

test('one dialog at a time', async () => {
  const desk = parts(0);
  const open = outsideLinks(desk);
  const [first, second] = ['https://example.org/first', 'https://example.org/second'] as const;
  await Promise.all([open(first), open(second)]);
  expect(desk.open.mock.calls).toEqual([[first]]);
  await open(second);
  expect(desk.open).toHaveBeenLastCalledWith(second);
});
