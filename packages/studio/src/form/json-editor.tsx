import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { readJson } from './read-json.ts';

export interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly isInvalid: boolean;
  readonly isRequired: boolean;
  readonly onChange: (value: string) => void;
}

/**
 * Text that must be JSON, with the line of what is wrong. Tab is not bound, so it leaves the editor as it leaves every other field.
 *
 * CodeMirror writes its styles into a style element, which the policy of the page refuses. In a shadow root it adopts style sheets, which the policy
 * allows.
 */
export function JsonEditor({ label, value, isInvalid, isRequired, onChange }: JsonEditorProps) {
  const frame = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  const attributes = EditorView.contentAttributes.of({
    'aria-label': label,
    'aria-required': String(isRequired),
    'aria-invalid': String(isInvalid),
  });
  useEffect(() => {
    const { current: element } = frame;
    if (element === null) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          BASE,
          ATTRIBUTES.of(attributes),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    editor.current?.dispatch({ effects: ATTRIBUTES.reconfigure(attributes) });
  }, [label, isRequired, isInvalid]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);
  return <div className="json-editor input" ref={frame} />;
}

const ATTRIBUTES = new Compartment();

/** A field that is empty is not wrong yet; whether it may be is for the form to say. */
function diagnostics({ state: { doc } }: EditorView): Diagnostic[] {
  const text = doc.toString();
  const read = text.trim() === '' ? undefined : readJson(text);
  if (read === undefined || 'value' in read) return [];
  const at = Math.min(read.position, doc.length);
  return [{ from: at, to: Math.min(at + 1, doc.length), severity: 'error', message: read.problem }];
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--wait)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: 'var(--small)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', maxHeight: '320px', overflow: 'auto' },
  '.cm-content': { minHeight: '5.6em', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-3)', border: 'none' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
  },
});

const BASE = [
  lineNumbers(),
  history(),
  json(),
  bracketMatching(),
  indentOnInput(),
  indentUnit.of('  '),
  syntaxHighlighting(COLOURS),
  linter(diagnostics, { delay: 300 }),
  lintGutter(),
  keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
  EditorView.lineWrapping,
  THEME,
];
