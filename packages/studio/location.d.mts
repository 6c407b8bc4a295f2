/** The folder of the built page: index.html, and what it loads from assets/ under names that change with their content. */
export declare const STUDIO_FOLDER: string;
