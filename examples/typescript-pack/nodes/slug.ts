import { defineNode, Type } from '@weft/sdk/nodes';

/** A text as a part of an address: "Crème brûlée!" becomes "creme-brulee". */
export const slug = defineNode({
  typeId: 'example.words.slug',
  version: '1.0.0',
  title: 'Slug',
  category: 'data',
  role: 'pure',
  inputs: { text: Type.String({ maxLength: 1_000 }) },
  outputs: { slug: Type.String() },
  run: ({ inputs }) => ({
    slug: inputs.text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{Mark}/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, ''),
  }),
});
