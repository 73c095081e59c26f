// The Markdown of catalogue and course as elements: headings, lists, tables, quotes, code, emphasis, links. Never as raw HTML.
import type { ComponentChildren } from 'preact';

/** Where a link within the course leads: another of its pages, or nothing that the dashboard has. */
function place(target: string): string | null {
  const lesson = /^(\d\d)-[\w-]+\.md(#.*)?$/.exec(target);
  return lesson ? `#/learn/${Number(lesson[1])}` : null;
}

/** Links, code and emphasis within a line. A word in code that is an id of the catalogue becomes a link to its page. */
function inline(text: string, ids: Set<string>): ComponentChildren[] {
  const pieces: ComponentChildren[] = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^\s)]+)\)|<(https?:\/\/[^>]+)>/g;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) pieces.push(text.slice(at, match.index));
    const [whole, code, strong, emphasis, label, target, bare] = match;
    if (code !== undefined) pieces.push(ids.has(code) ? <a href={`#/catalogue/${code}`}><code>{code}</code></a> : <code>{code}</code>);
    else if (strong !== undefined) pieces.push(<strong>{inline(strong, ids)}</strong>);
    else if (emphasis !== undefined) pieces.push(<em>{emphasis}</em>);
    else {
      const to = target === undefined || /^https?:\/\//.test(target) ? (target ?? bare) : place(target);
      pieces.push(to ? <a href={to} rel="noreferrer">{label ?? bare}</a> : label);
    }
    at = match.index + whole.length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

const isItem = (line: string) => /^\s*([-*]|\d+\.)\s+/.test(line);

function cells(line: string): string[] {
  return line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());
}

export function Markdown({ text, ids }: { text: string; ids: Set<string> }) {
  const blocks: ComponentChildren[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    const figure = /^!\[([^\]]*)\]\(images\/([\w-]+\.svg)\)$/.exec(line);
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    if (line.trim() === '') {
      ++i;
    } else if (figure) {
      blocks.push(<figure><img src={`api/learn/images/${figure[2]}`} alt={figure[1]} loading="lazy" /><figcaption class="quiet small">{figure[1]}</figcaption></figure>);
      ++i;
    } else if (heading) {
      blocks.push(<h3>{inline(heading[2]!, ids)}</h3>);
      ++i;
    } else if (line.startsWith('```')) {
      const body: string[] = [];
      for (++i; i < lines.length && !lines[i]!.startsWith('```'); ++i) body.push(lines[i]!);
      ++i;
      blocks.push(<pre><code>{body.join('\n')}</code></pre>);
    } else if (isItem(line)) {
      const items: string[] = [];
      for (; i < lines.length && lines[i]!.trim() !== ''; ++i) {
        if (isItem(lines[i]!)) items.push(lines[i]!.replace(/^\s*([-*]|\d+\.)\s+/, ''));
        else items.push(`${items.pop() ?? ''} ${lines[i]!.trim()}`);
      }
      const list = items.map((item) => <li>{inline(item, ids)}</li>);
      blocks.push(/^\s*\d/.test(line) ? <ol>{list}</ol> : <ul>{list}</ul>);
    } else if (line.trimStart().startsWith('|')) {
      const rows: string[][] = [];
      for (; i < lines.length && lines[i]!.trimStart().startsWith('|'); ++i) {
        if (!/^[\s|:-]+$/.test(lines[i]!)) rows.push(cells(lines[i]!));
      }
      const [head, ...body] = rows;
      blocks.push(
        <div class="scroll">
          <table>
            <thead><tr>{head?.map((cell) => <th>{inline(cell, ids)}</th>)}</tr></thead>
            <tbody>{body.map((row) => <tr>{row.map((cell) => <td>{inline(cell, ids)}</td>)}</tr>)}</tbody>
          </table>
        </div>,
      );
    } else {
      const words: string[] = [];
      for (; i < lines.length && lines[i]!.trim() !== '' && !isItem(lines[i]!) && !/^(#|```|\|)/.test(lines[i]!); ++i) {
        words.push(lines[i]!.replace(/^>\s?/, ''));
      }
      const paragraph = inline(words.join(' '), ids);
      blocks.push(line.startsWith('>') ? <blockquote>{paragraph}</blockquote> : <p>{paragraph}</p>);
    }
  }
  return <div class="prose">{blocks}</div>;
}
