/**
 * Completion scripts of shells. Each passes the words up to the cursor to `starpo __complete`, which prints a value, a tab and a description per
 * line, and completes files if there are none.
 */
export const completionScripts = {
  bash: {
    setup: "bash: echo 'source <(starpo completion bash)' >> ~/.bashrc",
    script: `_starpo() {
  local IFS=$'\\n'
  COMPREPLY=($(starpo __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  if [[ \${COMPREPLY-} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _starpo starpo`,
  },
  zsh: {
    setup: "zsh:  echo 'source <(starpo completion zsh)' >> ~/.zshrc   (after compinit)",
    script: `#compdef starpo
_starpo() {
  local line
  local -a values shown settings
  while IFS= read -r line; do
    if [[ $line == *=$'\\t' ]]; then settings+=("\${line%%$'\\t'*}"); continue; fi
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  }")
  done < <(starpo __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#settings )); then compadd -S '' -a settings
  elif (( $#values )); then compadd -l -d shown -a values
  else _files
  fi
}
if [[ $funcstack[1] == _starpo ]]; then _starpo "$@"; else compdef _starpo starpo; fi`,
  },
  fish: {
    setup: 'fish: starpo completion fish > ~/.config/fish/completions/starpo.fish',
    script: `function __starpo_complete
  set -l words (commandline -opc)
  set -l token (commandline -ct)
  test -n "$token"; or set token ''
  set -l found (starpo __complete -- $words[2..] $token 2>/dev/null)
  if test (count $found) -gt 0
    string join \\n $found
  else
    __fish_complete_path $token
  end
end
complete -c starpo -f -a '(__starpo_complete)'`,
  },
} as const;
export type Shell = keyof typeof completionScripts;
