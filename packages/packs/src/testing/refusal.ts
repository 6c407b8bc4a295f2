import { PackError } from '../pack-error.ts';

/** The code and message with which something was refused. */
export async function refusal(attempt: () => unknown): Promise<Pick<PackError, 'code' | 'message'>> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof PackError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('it was not refused');
}
