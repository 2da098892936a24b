// The completion script for fish. Output of TrayClaw passes through a command substitution, which fish treats as text and quotes on the
// command line.

import { globals, type Offer, type Place } from './model.ts';

/** Walks from the first word to the one under the cursor, and offers completions there. */
const walk = `function __trayclaw_offer
    for line in (__trayclaw_value $argv[1])
        set -l part (string split -m 1 \\t -- $line)
        switch $part[1]
            case word
                echo $part[2]
            case names
                set -l at
                test -n "$argv[2]"; and set at --home $argv[2]
                type -q trayclaw; and trayclaw __complete $part[2] $at </dev/null 2>/dev/null
            case files
                __fish_complete_path (commandline -ct)
        end
    end
end
function __trayclaw
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l place ''
    set -l pending ''
    set -l home ''
    set -l count 0
    set -l here (__trayclaw_place '')
    for one in $typed[2..-1]
        if test -n "$pending"
            test "$pending" = --home; and set home $one
            set pending ''
        else if string match -q -- '-*' $one
            string match -q -- (printf 'valued\\t%s\\t*' $one) $here; and set pending $one
        else if string match -q -- (printf 'below\\t%s\\t*' $one) $here
            set place (string trim -- "$place $one")
            set here (__trayclaw_place $place)
        else
            set count (math $count + 1)
        end
    end
    if test -n "$pending"
        __trayclaw_offer "$place|$pending" $home
    else if string match -q -- '-*' $current
        string match -v -- 'below*' $here | string replace -r '^[a-z]+\\t' ''
    else if string match -q -- 'below*' $here
        test $count -eq 0; and string match -- 'below*' $here | string replace -r '^[a-z]+\\t' ''
    else
        set -l found (__trayclaw_offer "$place|"(math $count + 1) $home)
        test (count $found) -eq 0; and set found (__trayclaw_offer "$place|more" $home)
        printf '%s\\n' $found
    end
end
complete -c trayclaw -f -a '(__trayclaw)'
`;

export function fishScript(places: readonly Place[]): string {
  const rows = places.flatMap(({ path, below, options }) => [
    `        case '${path}'`,
    ...below.map(({ name, about }) => `            echo 'below\t${name}\t${quoted(about)}'`),
    ...options.map(optionRow),
  ]);
  const values = places.flatMap(({ path, options, args, repeatsLast }) => [
    ...options.flatMap(({ label, value }) => (value === null ? [] : offerRow(`${path}|${label}`, value))),
    ...args.flatMap((offer, at) => offerRow(`${path}|${at + 1}`, offer)),
    ...(repeatsLast ? offerRow(`${path}|more`, args.at(-1)) : []),
  ]);
  return `# fish completion of trayclaw
function __trayclaw_place
    switch $argv[1]
${rows.join('\n')}
    end
${globals.map(optionRow).join('\n')}
end
function __trayclaw_value
    switch $argv[1]
${[...values, ...globals.flatMap(({ label, value }) => offerRow(`*|${label}`, value ?? undefined))].join('\n')}
    end
end
${walk}`;
}

function optionRow({ label, about, value }: Place['options'][number]): string {
  return `            echo '${value === null ? 'option' : 'valued'}\t${label}\t${quoted(about)}'`;
}

function offerRow(key: string, offer: Offer | undefined): string[] {
  if (offer === undefined) return [];
  const lines = [
    ...offer.words.map((word) => `            echo 'word\t${quoted(word)}'`),
    ...(offer.names === null ? [] : [`            echo 'names\t${offer.names}'`]),
    ...(offer.isFile ? [`            echo 'files\t'`] : []),
  ];
  return lines.length === 0 ? [] : [`        case '${key}'`, ...lines];
}

/** Escapes text for single quotes. */
function quoted(text: string): string {
  return text.replaceAll(/[\\']/g, '\\$&').replaceAll(/\s+/g, ' ');
}
