// The completion scripts for bash and zsh: shared tables and walk, with each shell's way to offer words. TrayClaw's output is never
// evaluated: it is read line by line, compared as text, and quoted before it reaches the command line.

import { globals, type Offer, type Place } from './model.ts';

export function bashScript(places: readonly Place[]): string {
  return `# bash completion of trayclaw
${tables(places)}
_trayclaw_offer() {
  local word about
  for word in $choices; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done
  if [[ -n $names ]]; then
    while IFS=$'\\t' read -r word about; do
      [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
    done < <(_trayclaw_names)
  fi
  [[ -n $files ]] && compopt -o default 2>/dev/null
  return 0
}
_trayclaw() {
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]} typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  _trayclaw_walk
}
complete -F _trayclaw trayclaw
`;
}

export function zshScript(places: readonly Place[]): string {
  return `#compdef trayclaw
${tables(places)}
_trayclaw_offer() {
  local word about
  local -a found shown
  for word in \${=choices}; do
    found+=("$word") shown+=("$word")
  done
  if [[ -n $names ]]; then
    while IFS=$'\\t' read -r word about; do
      [[ -n $word ]] && found+=("$word") shown+=("$word  $about")
    done < <(_trayclaw_names)
  fi
  (( \${#found} )) && compadd -l -d shown -a -- found
  [[ -n $files ]] && _files
  return 0
}
_trayclaw() {
  local current=\${words[CURRENT]}
  local -a typed
  typed=("\${(@)words[2,CURRENT-1]}")
  _trayclaw_walk
}
if [[ \${funcstack[1]} == _trayclaw ]]; then _trayclaw "$@"; else compdef _trayclaw trayclaw; fi
`;
}

/** Defines the completions of each position and value, and the walk from the first word to the one under the cursor. */
function tables(places: readonly Place[]): string {
  const everywhere = globals.map(({ label }) => label).join(' ');
  const everyValued = valuedOf(globals).join(' ');
  const rows = places.map(({ path, below, options }) => {
    const parts = { below: below.map(({ name }) => name), options: options.map(({ label }) => label), valued: valuedOf(options) };
    return `    '${path}') ${assignments(parts)} ;;`;
  });
  const shared = globals.flatMap(({ label, value }) => offerRow(`*'|${label}`, value ?? undefined));
  const offers = places.flatMap(({ path, options, args, repeatsLast }) => [
    ...options.flatMap(({ label, value }) => (value === null ? [] : offerRow(`${path}|${label}`, value))),
    ...args.flatMap((offer, at) => offerRow(`${path}|${at + 1}`, offer)),
    ...(repeatsLast && args.length > 0 ? offerRow(`${path}|more`, args.at(-1)) : []),
  ]);
  return `_trayclaw_place() {
  below= options= valued=
  case $1 in
${rows.join('\n')}
  esac
}
_trayclaw_value() {
  choices= names= files=
  case $1 in
${[...offers, ...shared].join('\n')}
  esac
}
_trayclaw_names() {
  if [[ -n $home ]]; then trayclaw __complete "$names" --home "$home" </dev/null 2>/dev/null
  else trayclaw __complete "$names" </dev/null 2>/dev/null; fi
}
_trayclaw_walk() {
  local place= count=0 home= pending= one below options valued choices names files
  _trayclaw_place ''
  for one in "\${typed[@]}"; do
    if [[ -n $pending ]]; then
      [[ $pending == --home ]] && home=\${one/#'~'/$HOME}
      pending=
    elif [[ $one == -* ]]; then
      [[ " $valued ${everyValued} " == *" $one "* ]] && pending=$one
    elif [[ -n $below && " $below " == *" $one "* ]]; then
      place="\${place:+$place }$one"
      _trayclaw_place "$place"
    else
      count=$((count + 1))
    fi
  done
  choices= names= files=
  if [[ -n $pending ]]; then _trayclaw_value "$place|$pending"
  elif [[ $current == -* ]]; then choices="$options ${everywhere}"
  elif [[ -n $below ]]; then ((count)) || choices=$below
  else
    _trayclaw_value "$place|$((count + 1))"
    [[ -z $choices$names$files ]] && _trayclaw_value "$place|more"
  fi
  _trayclaw_offer
}`;
}

function valuedOf(options: Place['options']): string[] {
  return options.filter(({ value }) => value !== null).map(({ label }) => label);
}

function offerRow(key: string, offer: Offer | undefined): string[] {
  if (offer === undefined || (offer.words.length === 0 && offer.names === null && !offer.isFile)) return [];
  const parts = { choices: offer.words, names: offer.names === null ? [] : [offer.names], files: offer.isFile ? ['yes'] : [] };
  const pattern = key.startsWith('*') ? `${key}'` : `'${key}'`;
  return [`    ${pattern}) ${assignments(parts)} ;;`];
}

function assignments(parts: Readonly<Record<string, readonly string[]>>): string {
  const filled = Object.entries(parts).filter(([, words]) => words.length > 0);
  return filled.length === 0 ? ':' : filled.map(([name, words]) => `${name}='${words.map(plainWord).join(' ')}'`).join(' ');
}

/** Words of the table are put into the script unquoted, so unusual characters are removed. */
function plainWord(word: string): string {
  return word.replaceAll(/[^\w.:@-]/g, '');
}
