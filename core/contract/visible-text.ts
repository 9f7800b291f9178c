/** Returns a text with control and format characters written as escapes, because they could hide a part of it. Keeps line breaks. */
export const visibleText = (text: string): string =>
  text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
