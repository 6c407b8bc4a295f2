import { type Mutant, status } from './mutant.ts';

export const RUN_MUTANTS: readonly Mutant[] = [
  {
    id: 'runs/created-with-200',
    breaks: 'a created run is answered with 200',
    caughtBy: ['runs/create'],
    says: /status 201/,
    on: { method: 'POST', path: /^\/v1\/runs$/ },
    answer: status(201, 200),
  },
];
