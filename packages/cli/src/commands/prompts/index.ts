import { group } from '../../parsing/command.ts';
import { create } from './create.ts';
import { ls } from './ls.ts';
import { render } from './render.ts';
import { rm } from './rm.ts';
import { show } from './show.ts';

export const prompts = group('prompts', 'Keep prompt templates in versions', [ls, create, show, render, rm]);
